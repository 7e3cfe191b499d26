import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import type { VitestPluginContext } from 'vitest/node'

/**
 * Makes few modules of all test files and what they import, which Node loads without vitest. Every mutant has a worker of
 * its own, which would otherwise spend most of its time on loading some thousand modules.
 * @param tests globs, from the present folder
 */
export function bundledTests(tests: readonly string[]) {
  let bundles: Promise<ReadonlyMap<string, string>> | undefined
  return {
    name: 'bundled-tests',
    enforce: 'pre' as const,
    /** Without positions, which are those of the bundle, Stryker takes every test of a changed file for a changed one. */
    configureVitest({ vitest, project }: Pick<VitestPluginContext, 'vitest' | 'project'>) {
      vitest.config.includeTaskLocation = false
      project.config.includeTaskLocation = false
    },
    async load(id: string) {
      if (!id.endsWith('.test.ts')) return undefined
      bundles ??= bundleTests(tests)
      return `import ${literal((await bundles).get(id) ?? id)}`
    },
  }
}

/** @returns the bundle of each test file. vitest leaves what is below `node_modules` to Node */
async function bundleTests(tests: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { metafile } = await build({
    entryPoints: globSync([...tests]),
    outdir: join('node_modules', '.bundled-tests'),
    outbase: '.',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    metafile: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: ['vitest', '*.node'],
    plugins: [ownPaths, asTheyAre, briefProperties],
    banner: {
      js: `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`,
    },
  })
  return new Map(
    Object.entries(metafile.outputs).flatMap(([path, { entryPoint }]) =>
      entryPoint === undefined ? [] : [[resolve(entryPoint), resolve(path)] as const],
    ),
  )
}

const literal = (text: string): string => JSON.stringify(text)

/** A module in a bundle still knows where its file is. */
const ownPaths: Plugin = {
  name: 'own-paths',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => ({
      loader: 'ts',
      contents: readFileSync(path, 'utf8')
        .replaceAll('import.meta.dirname', literal(dirname(path)))
        .replaceAll('import.meta.filename', literal(path))
        .replaceAll('import.meta.url', literal(pathToFileURL(path).href)),
    }))
  },
}

/** These read files beside their modules. */
const asTheyAre: Plugin = {
  name: 'as-they-are',
  setup({ onResolve }) {
    onResolve({ filter: /^(@fastify\/|(fastify|pino|litesvm)$)/ }, ({ path, importer }) => ({
      path: createRequire(importer).resolve(path),
      external: true,
    }))
  },
}

/** Random cases of a property for one mutant. What more of them would notice is noticed by chance. */
const mostRuns = 50

/** A property that fails has told enough: to shrink what failed takes longer than all other tests. */
const briefProperties: Plugin = {
  name: 'brief-properties',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^fast-check$/, namespace: 'file' }, ({ importer }) => ({
      path: createRequire(importer).resolve('fast-check'),
      namespace: 'brief',
    }))
    onLoad({ filter: /./, namespace: 'brief' }, ({ path }) => ({
      resolveDir: dirname(path),
      contents: `import all from ${literal(path)}
        all.configureGlobal({ ...all.readConfigureGlobal(), numRuns: ${mostRuns} })
        const briefly = (options) => ({
          ...options,
          endOnFailure: true,
          numRuns: Math.min(options?.numRuns ?? ${mostRuns}, ${mostRuns}),
        })
        export default { ...all, assert: (property, options) => all.assert(property, briefly(options)) }`,
    }))
  },
}

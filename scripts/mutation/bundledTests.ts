import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import type { VitestPluginContext } from 'vitest/node'

/**
 * Makes each test file one module with all that it imports. Every mutant has a worker of its own, which would otherwise
 * spend most of its time on loading some thousand modules.
 */
export const bundledTests = {
  name: 'bundled-tests',
  enforce: 'pre' as const,
  /** Without positions, which are those of the bundle, Stryker takes every test of a changed file for a changed one. */
  configureVitest({ vitest, project }: Pick<VitestPluginContext, 'vitest' | 'project'>) {
    vitest.config.includeTaskLocation = false
    project.config.includeTaskLocation = false
  },
  async load(id: string) {
    if (!id.endsWith('.test.ts')) return undefined
    const { outputFiles } = await build({
      entryPoints: [id],
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      minifyWhitespace: true,
      legalComments: 'none',
      external: ['vitest', '*.node'],
      plugins: [ownPaths, asTheyAre],
      banner: {
        js: `import { createRequire as requireOf } from 'node:module'; const require = requireOf(${literal(id)});`,
      },
    })
    return outputFiles[0]?.text
  },
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

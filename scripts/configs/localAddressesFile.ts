import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { localAddressesOf } from '../../packages/chains/src/guards.ts'
import { root } from './writeJson.ts'

const path = 'packages/chains/src/config/localAddresses.ts'

/** Addresses of all `configs/*.local.json`, in order. */
function addressesOfLocalFiles(): readonly string[] {
  const names = readdirSync(join(root, 'configs')).filter((name) => name.endsWith('.local.json'))
  const files = names.map((name): unknown => JSON.parse(readFileSync(join(root, 'configs', name), 'utf8')))
  return [...localAddressesOf(files)].sort()
}

/** Writes what the guard of other environments compares with. @returns the path, relative to the root */
export function writeLocalAddresses(): string {
  const lines = addressesOfLocalFiles().map((address) => `  '${address}',\n`)
  writeFileSync(
    join(root, path),
    `/** Addresses that only the local network has, in lower case. Written by scripts/writeLocalConfigs.ts. */
export const localNetworkAddresses: ReadonlySet<string> = new Set([
${lines.join('')}])
`,
  )
  return path
}

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { localAddressesOf } from '../../packages/chains/src/guards.ts'
import { loadArtifacts } from '../../packages/localnet/src/contracts/artifacts.ts'
import { rehearsedAddresses } from '../../packages/localnet/src/rehearsal/market.ts'
import { root } from './writeJson.ts'

const path = 'packages/chains/src/config/localAddresses.ts'

/** Addresses of all `configs/*.local.json`, in order. */
function addressesOfLocalFiles(): readonly string[] {
  const names = readdirSync(join(root, 'configs')).filter((name) => name.endsWith('.local.json'))
  const files = names.map((name): unknown => JSON.parse(readFileSync(join(root, 'configs', name), 'utf8')))
  return [...localAddressesOf(files)].sort()
}

/** Writes what the guard of other environments compares with. @returns the path, relative to the root */
export async function writeLocalAddresses(): Promise<string> {
  const linesOf = (addresses: readonly string[]) => addresses.map((address) => `  '${address}',\n`).join('')
  const rehearsed = [...rehearsedAddresses(await loadArtifacts())].sort()
  writeFileSync(
    join(root, path),
    `/** Addresses that only the local network has, in lower case. Written by scripts/writeLocalConfigs.ts. */
export const localNetworkAddresses: ReadonlySet<string> = new Set([
${linesOf(addressesOfLocalFiles())}])

/** Addresses that only rehearsals of production have, as far as no key is a part of them. */
export const rehearsalAddresses: ReadonlySet<string> = new Set([
${linesOf(rehearsed)}])
`,
  )
  return path
}

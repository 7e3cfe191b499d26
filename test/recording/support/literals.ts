import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { configsDirectory } from '../../../apps/quote-api/test/serviceSupport/configCopy.ts'
import type { OracleWorld } from './world.ts'

/** Hex that every run of the recording has: keys' addresses, contracts, and what the configuration names. */
export async function literalsOf({ network }: Pick<OracleWorld, 'network'>): Promise<Set<string>> {
  const names = (await readdir(configsDirectory)).filter((name) => name.endsWith('.local.json'))
  const files = await Promise.all(names.map((name) => readFile(join(configsDirectory, name), 'utf8')))
  const { keys, deployment } = network
  const addresses = JSON.stringify({ keys, deployment })
  return new Set(
    [...files, addresses]
      .join(' ')
      .toLowerCase()
      .match(/0x(?:[0-9a-f]{64}|[0-9a-f]{40})\b/g) ?? [],
  )
}

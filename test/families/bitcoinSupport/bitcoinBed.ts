import { Secret } from '@causeway/core'
import type { BitcoinApi } from '@causeway/localnet/standIns/bitcoin'
import { onTestFinished } from 'vitest'
import { openBitcoinChain } from '../../../packages/families/src/bitcoin/reading/openBitcoinChain.ts'
import type { FamilyChain, ReadableChain } from '../../../packages/families/src/shared/familyChain.ts'
import { additional, depository } from './transactions.ts'

export * from './transactions.ts'

export const aSignal = () => ({ signal: AbortSignal.timeout(60_000) })

export type BitcoinChainOptions = {
  readonly api: BitcoinApi
  readonly urls: readonly string[]
  /** Esplora services beside nodes, for what spent an output. */
  readonly lookup?: readonly string[]
  readonly finalEntriesMax?: number
  readonly change?: Partial<ReadableChain>
}

/** Closed when the test ends. */
export function openChain(options: BitcoinChainOptions): FamilyChain {
  const chain = openBitcoinChain(chainOf(options), { finalEntriesMax: options.finalEntriesMax ?? 0 })
  onTestFinished(() => chain.close())
  return chain
}

export function chainOf({ api, urls, lookup = [], change = {} }: BitcoinChainOptions): ReadableChain {
  const apis = api === 'esplora' ? urls : lookup
  return {
    id: 'bitcoin',
    vmType: 'bitcoin-vm',
    network: 'regtest',
    hubChainId: '7',
    depository,
    additionalDepositories: [additional],
    finality: { mode: 'depth', blocks: 3 },
    endpoints: api === 'node' ? urls.map((url) => new Secret(url)) : [],
    ready: api === 'node',
    unsetVariables: [],
    rpcThreshold: api === 'node' ? Math.ceil((2 * urls.length) / 3) : 1,
    additionalData: apis.length === 0 ? {} : { esploraCompatibleApiUrl: new Secret(apis.join(',')) },
    ...change,
  }
}

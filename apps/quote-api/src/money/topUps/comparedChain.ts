import { ConfigurationError, type Hex, type Secret } from '@causeway/core'
import type { OnMalformed, RegisteredChain } from '@causeway/families'
import { createJsonRpcClient } from '@causeway/rpc'
import type { QuotableCurrency } from '../../pricing/registry.ts'
import { createTopUpChain, type TopUpChain, type TopUpChainOptions } from './topUpChain.ts'

/** Settings for top-ups from the environment; see `config.ts`. */
export type TopUpSettings = {
  /** Lower case; absent: nothing is watched. */
  readonly custody: Hex | undefined
  /** Account of the solver, lower case: tagged transfers to it are top-ups as well. */
  readonly solver: Hex | undefined
  readonly fromBlock: bigint
  readonly mode: 'strict' | 'trace'
  readonly allowTrailing: boolean
  /** Endpoint that settled top-ups are compared with; default the last one of the chain. */
  readonly reconcileRpcUrl: Secret | undefined
}

export type TopUpPlace = {
  readonly settings: TopUpSettings
  /** The chain of sponsorship. */
  readonly chain: RegisteredChain | undefined
  readonly chainId: number
  /** Its USDC. */
  readonly currency: QuotableCurrency | undefined
  readonly onMalformed: OnMalformed
}

/** Options shared by all readers of custody. @throws ConfigurationError */
export function topUpReading(place: TopUpPlace): Omit<TopUpChainOptions, 'client' | 'rpcThreshold'> {
  const { settings, chainId, currency, onMalformed } = place
  const { custody, allowTrailing, mode } = settings
  if (custody === undefined) throw new ConfigurationError('CUSTODY_ADDRESS is not set.')
  if (currency === undefined) {
    throw new ConfigurationError('CUSTODY_ADDRESS: the chain of sponsorship has no USDC.')
  }
  // CAST: a currency of an EVM chain is an address, and the registry keeps those in lower case.
  const token = currency.address.toLowerCase() as Hex
  const ownAccounts = [custody, ...(settings.solver === undefined ? [] : [settings.solver])]
  return { chainId, target: { token, custody, allowTrailing, ownAccounts }, mode, onMalformed }
}

/** Options of the reader of the solver's account; undefined if none is configured beside custody. */
export function solverReading(
  place: TopUpPlace,
): Omit<TopUpChainOptions, 'client' | 'rpcThreshold'> | undefined {
  const { solver, custody } = place.settings
  if (solver === undefined || solver === custody) return undefined
  const { target, ...reading } = topUpReading(place)
  return { ...reading, target: { ...target, custody: solver, isTaggedOnly: true } }
}

/** The chain over the endpoint that settled top-ups are compared with. @throws ConfigurationError */
export function openComparedChain(place: TopUpPlace): {
  readonly chain: TopUpChain
  close(): Promise<void>
} {
  const { settings, chain } = place
  const endpoint = settings.reconcileRpcUrl ?? chain?.endpoints.at(-1)
  if (chain === undefined || endpoint === undefined) {
    throw new ConfigurationError('CUSTODY_ADDRESS: the chain of sponsorship has no endpoint.')
  }
  const client = createJsonRpcClient({
    chainId: chain.id,
    endpoints: [{ url: endpoint, alias: 'reconciler' }],
    now: () => Date.now(),
  })
  return {
    chain: createTopUpChain({ ...topUpReading(place), client, rpcThreshold: 1 }),
    close: () => client.close(),
  }
}

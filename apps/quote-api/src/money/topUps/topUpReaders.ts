import { ConfigurationError, type Hex, type Secret } from '@causeway/core'
import type { OnMalformed, RegisteredChain } from '@causeway/families'
import { createJsonRpcClient } from '@causeway/rpc'
import type { QuotableCurrency } from '../../pricing/registry.ts'
import { createTopUpChain, type TopUpChain, type TopUpChainOptions } from './topUpChain.ts'

/** Settings for top-ups from the environment; see `config.ts`. */
export type TopUpSettings = {
  /** Lower case; absent: nothing is watched. */
  readonly custody: Hex | undefined
  /** Account of the solver, lower case: transfers to it that carry a marker are top-ups as well. */
  readonly solver: Hex | undefined
  /** First block that may hold a top-up. */
  readonly fromBlock: bigint
  /** See `TopUpChainOptions`. */
  readonly mode: 'strict' | 'trace'
  /** True if unknown bytes behind a transfer's arguments do not put it into suspense. */
  readonly allowTrailing: boolean
  /** Endpoint that settled top-ups are compared with; default the last one of the chain. */
  readonly reconcileRpcUrl: Secret | undefined
}

/** Settings and chain from which readers of top-ups are made. */
export type TopUpReadingParts = {
  readonly settings: TopUpSettings
  /** The chain of sponsorship. */
  readonly chain: RegisteredChain | undefined
  readonly chainId: number
  /** Its USDC. */
  readonly currency: QuotableCurrency | undefined
  readonly onMalformed: OnMalformed
}

/** Options that all readers of the custody account share. @throws ConfigurationError */
export function custodyReaderOptions(
  parts: TopUpReadingParts,
): Omit<TopUpChainOptions, 'client' | 'rpcThreshold'> {
  const { settings, chainId, currency, onMalformed } = parts
  const { custody, allowTrailing, mode } = settings
  if (custody === undefined) throw new ConfigurationError('CUSTODY_ADDRESS is not set.')
  if (currency === undefined) {
    throw new ConfigurationError('CUSTODY_ADDRESS: the chain of sponsorship has no USDC.')
  }
  // CAST: a currency of an EVM chain is 0x and hex digits; transfers name it in lower case.
  const token = currency.address.toLowerCase() as Hex
  // A transfer from an account of the operator is no top-up unless it names a wallet.
  const ownAccounts = [custody, ...(settings.solver === undefined ? [] : [settings.solver])]
  return { chainId, target: { token, custody, allowTrailing, ownAccounts }, mode, onMalformed }
}

/**
 * Options of the reader of the solver's account, which takes only transfers with a marker, because the
 * account receives other money too; undefined if there is no such account, or if it is custody.
 */
export function solverReaderOptions(
  parts: TopUpReadingParts,
): Omit<TopUpChainOptions, 'client' | 'rpcThreshold'> | undefined {
  const { solver, custody } = parts.settings
  if (solver === undefined || solver === custody) return undefined
  const { target, ...reading } = custodyReaderOptions(parts)
  return { ...reading, target: { ...target, custody: solver, isTaggedOnly: true } }
}

/**
 * Opens the chain of sponsorship over a single endpoint, with which the reconciler compares settled top-ups.
 * @throws ConfigurationError
 */
export function openComparedChain(parts: TopUpReadingParts): {
  readonly chain: TopUpChain
  close(): Promise<void>
} {
  const { settings, chain } = parts
  const endpoint = settings.reconcileRpcUrl ?? chain?.endpoints.at(-1)
  if (chain === undefined || endpoint === undefined) {
    throw new ConfigurationError('CUSTODY_ADDRESS: the chain of sponsorship has no endpoint.')
  }
  const client = createJsonRpcClient({
    chainId: chain.id,
    endpoints: [{ url: endpoint, alias: 'reconciler' }],
  })
  return {
    chain: createTopUpChain({ ...custodyReaderOptions(parts), client, rpcThreshold: 1 }),
    close: () => client.close(),
  }
}

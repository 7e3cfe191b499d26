import { openSignedDeposits } from '@causeway/chains'
import type { SqlDatabase } from '@causeway/core'
import type { SignedDeposits } from '@causeway/families'
import { type PermitKind, permitKinds } from '@causeway/families/rules'
import type { Market } from '@causeway/market'
import type { ChainClient } from '@causeway/rpc'
import { createContractSignatures } from '../access/wallets/contractSignature.ts'
import type { QuoteRegistry } from '../pricing/registry.ts'
import type { PermitTokens } from '../pricing/routes/permit.ts'
import { createTakeCalls, type TakeCalls } from '../requests/execute/takeCalls.ts'
import { createPermitTokens } from '../requests/permits/permitTokens.ts'
import type { TakeSignature } from '../requests/permits/takePermit.ts'
import { createPermitTrials, createTakePermit } from '../requests/permits/takePermit.ts'
import type { Screening } from '../requests/screening/screenedRequest.ts'
import type { ChainStops } from '../requests/stops/chainStops.ts'
import { type ChainPorts, gasOn } from './chainPorts.ts'

export type Permits = {
  readonly permitTokens: PermitTokens
  readonly takePermit: Readonly<Record<PermitKind, TakeSignature>>
  readonly takeCalls: TakeCalls
}

/** Deposits that a user only signs: what a token asks to be signed, and taking the signature as work for the solver. */
export function createPermits(options: {
  registry: QuoteRegistry
  clients: ReadonlyMap<string, ChainClient>
  database: SqlDatabase
  screening: Screening | undefined
  stops: ChainStops
  fillWallet: string | undefined
  ports: Pick<ChainPorts, 'hasCode'>
  market: Pick<Market, 'snapshot'>
}): Permits {
  const { registry, clients, database, screening, stops, fillWallet, ports, market } = options
  const now = () => stops.now()
  // No chain has the empty key.
  const clientOf = (chainId: number) => clients.get(registry.chainById.get(chainId)?.key ?? '')
  const contracts = new Map(
    registry.chains.flatMap(({ chainId }) => {
      const client = clientOf(chainId)
      return client === undefined ? [] : [[chainId, createContractSignatures(client)] as const]
    }),
  )
  const contractsOf = (chainId: number) => contracts.get(chainId)
  const signedDeposits = openDeposits(registry, clients)
  const depositsOf = (chainId: number) => signedDeposits.get(chainId)
  const trial = createPermitTrials(depositsOf)
  const sharedOptions = { database, contractsOf, hasCode: ports.hasCode, trial, screening, stops, now }
  const [eip3009, eip2612, permit2] = permitKinds
  return {
    permitTokens: createPermitTokens({ depositsOf, now }),
    takeCalls: createTakeCalls({
      database,
      registry,
      depositsOf,
      screening,
      stops,
      fillWallet,
      now,
      isRead: (chainId) => clientOf(chainId) !== undefined,
      dearerOn: (chainId) => gasOn(market.snapshot(), chainId).dearer,
    }),
    takePermit: {
      eip3009: createTakePermit({ ...sharedOptions, kind: eip3009 }),
      eip2612: createTakePermit({ ...sharedOptions, kind: eip2612 }),
      permit2: createTakePermit({ ...sharedOptions, kind: permit2 }),
    },
  }
}

/** Readers for signed deposits, by chain id, of chains whose family has them. They need multicall3. */
function openDeposits(
  registry: QuoteRegistry,
  clients: ReadonlyMap<string, ChainClient>,
): ReadonlyMap<number, SignedDeposits> {
  return new Map(
    registry.chains.flatMap(({ key, chainId, vmType, config: { multicall3 } }) => {
      const client = clients.get(key)
      if (client === undefined || multicall3 === undefined) return []
      const opened = openSignedDeposits(vmType, { client, chainId, multicall3 })
      return opened === undefined ? [] : [[chainId, opened] as const]
    }),
  )
}

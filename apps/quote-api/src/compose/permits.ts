import type { SqlDatabase } from '@causeway/core'
import { type PermitKind, permitKinds } from '@causeway/families/rules'
import type { Market } from '@causeway/market'
import type { JsonRpcClient } from '@causeway/rpc'
import { createContractSignatures } from '../access/wallets/contractSignature.ts'
import type { PermitTokens } from '../pricing/permit.ts'
import type { QuoteRegistry } from '../pricing/registry.ts'
import { createTakeCalls, type TakeCalls } from '../requests/execute/takeCalls.ts'
import { createDepositSimulation } from '../requests/permits/depositSimulation.ts'
import { createPermitTokens } from '../requests/permits/permitTokens.ts'
import type { TakeSignature } from '../requests/permits/takePermit.ts'
import { createTakePermit } from '../requests/permits/takePermit.ts'
import type { Screening } from '../requests/screening/screenedRequest.ts'
import type { ChainStops } from '../requests/stops/chainStops.ts'
import { type ChainPorts, gasOn } from './quoting.ts'

export type Permits = {
  readonly permitTokens: PermitTokens
  readonly takePermit: Readonly<Record<PermitKind, TakeSignature>>
  readonly takeCalls: TakeCalls
}

/** Deposits by signature, from what tokens ask to be signed to the work of relaying it. */
export function createPermits(options: {
  registry: QuoteRegistry
  clients: ReadonlyMap<string, JsonRpcClient>
  database: SqlDatabase
  screening: Screening | undefined
  stops: ChainStops
  fillWallet: string | undefined
  ports: Pick<ChainPorts, 'hasCode'>
  market: Pick<Market, 'snapshot'>
}): Permits {
  const { registry, clients, database, screening, stops, fillWallet, ports, market } = options
  const now = () => stops.now()
  const clientOf = (chainId: number) => clients.get(registry.chainById.get(chainId)?.key ?? '')
  const contracts = new Map(
    registry.chains.flatMap(({ chainId }) => {
      const client = clientOf(chainId)
      return client === undefined ? [] : [[chainId, createContractSignatures(client)] as const]
    }),
  )
  const contractsOf = (chainId: number) => contracts.get(chainId)
  const trial = createDepositSimulation((chainId) => {
    const client = clientOf(chainId)
    const multicall3 = registry.chainById.get(chainId)?.config.multicall3
    return client && multicall3 && { client, multicall3 }
  })
  const sharedOptions = { database, contractsOf, hasCode: ports.hasCode, trial, screening, stops, now }
  const [eip3009, eip2612, permit2] = permitKinds
  return {
    permitTokens: createPermitTokens({ clientOf, now }),
    takeCalls: createTakeCalls({
      ...{ database, registry, clientOf, screening, stops, fillWallet, now },
      dearerOn: (chainId) => gasOn(market.snapshot(), chainId).dearer,
    }),
    takePermit: {
      eip3009: createTakePermit({ ...sharedOptions, kind: eip3009 }),
      eip2612: createTakePermit({ ...sharedOptions, kind: eip2612 }),
      permit2: createTakePermit({ ...sharedOptions, kind: permit2 }),
    },
  }
}

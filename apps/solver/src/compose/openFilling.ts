import type { NetworkOf } from '@causeway/core'
import { exposureLimitsOf, isContractChain } from '@causeway/core/config'
import type { Market } from '@causeway/market'
import type { ServiceParts } from '@causeway/service'
import { recoverSigner } from '@causeway/signer'
import { createDepositReader, type DepositReader } from '../facts/deposits.ts'
import { createHeadSights } from '../facts/headSights.ts'
import { readUnits, valuerOf } from '../facts/prices.ts'
import type { Filling, Recoveries, SolverChain } from '../filling/filling.ts'
import { createRecords, type Records } from '../wallet/records.ts'
import type { BackgroundParts } from './background.ts'
import { elect } from './elections.ts'
import type { SolverMetrics } from './metrics.ts'
import { observedRecords } from './observedRecords.ts'
import { openDesk } from './openDesk.ts'
import { sharingOf } from './sharing.ts'
import { submitCheck } from './shownChecks.ts'
import type { World } from './world.ts'

/** Parts that pay: chains with their desks, and the records. */
export type PayingParts = {
  readonly chains: readonly SolverChain[]
  readonly records: Records
  readonly networkOf: NetworkOf
  readonly valuer: Filling['valuer']
}

/** Opens the desk of each chain that is paid on. */
export function openPaying(
  { logger, check, onClose }: ServiceParts<'jobs'>,
  parts: { readonly world: World; readonly market: Market; readonly metrics: SolverMetrics },
): PayingParts {
  const { world, market, metrics } = parts
  const { files, database, chains } = world
  const elections = elect({ ...world, logger })
  onClose('jobs', 'lease', () => elections.close())
  const networkOf: NetworkOf = (key) => files.chains.chains.get(key)
  const units = readUnits(files.quote, networkOf)
  const valuer = () => valuerOf(units, market.snapshot())
  const records = observedRecords(createRecords(database), { chains: chains.paying, valuer, metrics })
  const opened = chains.paying.map((chain) =>
    openDesk(logger, {
      chain,
      records,
      market,
      elections,
      exposure: exposureLimitsOf(files.solver, chain.policy),
    }),
  )
  for (const submitReadiness of opened.flatMap(submitCheck)) check(submitReadiness)
  return { chains: opened, records, networkOf, valuer }
}

/** Opens the reader of deposits on all quoted chains. The market's heads tell it when blocks were first seen. */
export function openDeposits(
  { onClose }: ServiceParts<'connections'>,
  { files: { quote, chains }, hub }: World,
  market: Market,
): DepositReader {
  const heads = createHeadSights(() => performance.now())
  const origins = Object.values(quote.chains).map(({ chainId }) => chainId)
  market.onChange((snapshot) => {
    for (const chainId of origins) {
      const state = snapshot.chain(chainId)
      if (!('reason' in state)) heads.note(chainId, state.head.number)
    }
  })
  const deposits = createDepositReader(
    Object.entries(quote.chains).flatMap(([key, origin]) => {
      const chain = chains.chains.get(key)
      return chain === undefined ? [] : [{ chain, config: origin }]
    }),
    heads,
    hub?.entries,
  )
  onClose('connections', 'deposits', () => deposits.close())
  return deposits
}

/**
 * Makes what work items need. Halts come from `background`, which is filled later: until then no chain is
 * halted.
 */
export function createFilling(
  world: World,
  parts: PayingParts & { readonly deposits: DepositReader; readonly background: BackgroundParts },
): Filling {
  const { config, settings, files, signer, denyList } = world
  const { toleranceBps, lossPerOrderMicroUsd, lossPerHourMicroUsd, claimsPerHourMicroUsd } = files.solver
  const { chains, records, deposits, networkOf, valuer, background } = parts
  return {
    chains,
    records,
    deposits,
    networkOf,
    denyList,
    isDryRun: config.isDryRun,
    orders: { networkOf, recoverSigner, orderSigners: settings.orderSigners },
    sharing: sharingOf(files.solver, signer.address),
    hasOracles: config.oracles !== undefined,
    isHalted: (key) => background.halts?.has(key) === true,
    recoveries: createRecoveries(world),
    valuer,
    limits: { toleranceBps, lossPerOrderMicroUsd, lossPerHourMicroUsd, claimsPerHourMicroUsd },
  }
}

/** Access to the hub for orders that are given up; undefined if the settings do not allow it. */
function createRecoveries({ hub, files: { chains, quote } }: World): Recoveries | undefined {
  if (hub?.recoveries === undefined) return undefined
  return {
    hub: hub.recoveries,
    chainNumberOf(key) {
      if (key === chains.hub?.id) return chains.hub.evmChainId
      const config = quote.chains[key]
      return config !== undefined && isContractChain(config) ? config.chainId : undefined
    },
  }
}

import { type ExposureLimits, gasBudgetsOf } from '@causeway/core/config'
import type { Elections } from '@causeway/database'
import { EthereumFees, type NetworkFees } from '@causeway/families/rules'
import type { Market } from '@causeway/market'
import type { Logger } from 'pino'
import { createContractRecord, createMarkedRecord } from '../facts/paymentRecord.ts'
import type { SolverChain } from '../filling/filling.ts'
import { openRecords } from '../wallet/deskStrategy.ts'
import { ExpiringStrategy } from '../wallet/expiringStrategy.ts'
import {
  createAllowances,
  createInventory,
  createLineInventory,
  createPlainInventory,
} from '../wallet/inventory.ts'
import { LineStrategy } from '../wallet/lineStrategy.ts'
import { NonceStrategy } from '../wallet/nonceStrategy.ts'
import { type DeskOptions, PaymentDesk } from '../wallet/paymentDesk.ts'
import type { Records } from '../wallet/records.ts'
import type { KeptRecord } from '../wallet/signedRecord.ts'
import type { ContractPaidChain, LinePaidChain, MarkedPaidChain, PaidChain } from './paidChain.ts'

/** Name of the lease of a fill wallet on a chain: only the process that holds it writes records there. */
export const leaseName = (wallet: string, chainId: number) => `fill-wallet:${wallet}:${chainId}`

/** Parts that desks of all kinds share. */
type DeskParts = {
  readonly records: Records
  readonly market: Market
  readonly elections: Elections
  readonly exposure: ExposureLimits
}

/**
 * Opens the desk that pays on a chain. `contract`: through a fill contract, by transactions with nonces.
 * `marked`: by transactions that expire and leave a mark. `line`: by one line of transactions, each spending
 * the one before.
 */
export function openDesk(
  logger: Logger,
  { chain, ...shared }: DeskParts & { readonly chain: PaidChain },
): SolverChain {
  switch (chain.kind) {
    case 'contract':
      return openContractDesk(logger, { ...shared, chain })
    case 'marked':
      return openMarkedDesk(logger, { ...shared, chain })
    case 'line':
      return openLineDesk(logger, { ...shared, chain })
  }
}

/** Seconds that a transaction through a fill contract needs to be mined; with less left, none is sent. */
const minedWithinSeconds = 15

function openContractDesk(
  logger: Logger,
  parts: DeskParts & { readonly chain: ContractPaidChain },
): SolverChain {
  const { chain, records, market, exposure } = parts
  const { key, chainId, config, codec, payees, policy, paying } = chain
  const { fillContract, wrappedNative, depositAddresses, permitRouter, permit2Router, multicall3 } = config
  const { fillContracts, submitFailure, hasCode } = paying
  const { maxFeePerGasWei, bumpAfterSeconds, transactionGasMax } = policy
  const strategy = new NonceStrategy({
    paying,
    fillContract,
    records,
    nowMs,
    marketFees: () => {
      const fees = feesOf(market, chainId)
      // A chain that is paid on through a fill contract has a fee model of gas, whose fees are of this class.
      return fees instanceof EthereumFees ? fees : undefined
    },
    rules: { maxFeePerGasWei, transactionGasMax, bumpAfterMs: bumpAfterSeconds * 1_000 },
  })
  const desk = new PaymentDesk(strategy, deskOptions(logger, parts, strategy))
  return {
    key,
    chainId,
    codec,
    payees,
    fillContract,
    fillContracts,
    desk,
    exposure,
    hasCode,
    landsWithinSeconds: minedWithinSeconds,
    ...(submitFailure !== undefined && { submitFailure }),
    ...costs(market, chainId, policy),
    record: createContractRecord(paying),
    depositAddresses: depositAddresses?.contract,
    permitRouter: permitRouter?.contract,
    permit2Router,
    multicall3,
    inventory: createInventory(
      { desk, paying },
      { chainId, fillContract, wrappedNative, floors: floorsOf(policy) },
      records,
    ),
  }
}

function openMarkedDesk(logger: Logger, parts: DeskParts & { readonly chain: MarkedPaidChain }): SolverChain {
  const { chain, records, market, exposure } = parts
  const { key, chainId, codec, policy, paying, fillContract, addressProgram, landsWithinSeconds } = chain
  const { address } = paying
  const { maxFeePerGasWei } = policy
  const strategy = new ExpiringStrategy({
    chainId,
    paying,
    landsWithinSeconds,
    records,
    maxFeePerGasWei,
    nowMs,
    marketFees: () => feesOf(market, chainId),
  })
  const desk = new PaymentDesk(strategy, deskOptions(logger, parts, strategy))
  const open = () => openRecords(records, { address, chainId })
  return {
    key,
    chainId,
    codec,
    payees: chain.payees,
    desk,
    landsWithinSeconds,
    ...noContracts,
    record: createMarkedRecord(paying),
    fillContract,
    addressProgram,
    exposure,
    ...costs(market, chainId, policy),
    inventory: createPlainInventory({
      balanceOf: (currency) => paying.balanceOf(currency),
      open,
      floors: floorsOf(policy),
      isAllowed: createAllowances({ desk, paying, open }),
    }),
  }
}

function openLineDesk(logger: Logger, parts: DeskParts & { readonly chain: LinePaidChain }): SolverChain {
  const { chain, records, market, exposure } = parts
  const { key, chainId, codec, policy, paying, landsWithinSeconds } = chain
  const { maxFeePerGasWei, bumpAfterSeconds, gatherBelowSatPerKvb: gatherBelow } = policy
  const strategy = new LineStrategy({
    chainId,
    paying,
    records,
    nowMs,
    rules: { maxFeePerGasWei, bumpAfterMs: bumpAfterSeconds * 1_000, gatherBelow },
    marketFees: () => {
      const fees = feesOf(market, chainId)
      return fees && paying.satPerKvbOf(fees)
    },
  })
  const desk = new PaymentDesk(strategy, deskOptions(logger, parts, strategy))
  const left = () => strategy.left()
  const gather = async () => {
    const chore = await strategy.gathering()
    if (chore !== undefined) await desk.begin(chore)
  }
  return {
    key,
    chainId,
    codec,
    payees: chain.payees,
    desk,
    landsWithinSeconds,
    ...noContracts,
    record: createMarkedRecord(paying),
    ...costs(market, chainId, policy),
    sweeping: paying,
    exposure,
    inventory: createLineInventory({ left, gather }, { currency: paying.currency, floors: floorsOf(policy) }),
  }
}

const nowMs = () => Date.now()

const deskOptions = (
  logger: Logger,
  { chain, records, elections }: DeskParts & { readonly chain: PaidChain },
  { address, chainId }: { readonly address: string; readonly chainId: number },
): DeskOptions => ({
  records,
  rules: gasBudgetsOf(chain.policy),
  leadership: () => elections.leadershipOf(leaseName(address, chainId)),
  log: recordLog(logger, chain.key),
})

/** Members of a chain without contracts for sweeps and permits. */
const noContracts = {
  fillContract: undefined,
  depositAddresses: undefined,
  permitRouter: undefined,
  permit2Router: undefined,
  multicall3: undefined,
}

const floorsOf = ({ floors }: PaidChain['policy']): ReadonlyMap<string, bigint> =>
  new Map(floors.map(({ currency, amount }) => [currency, amount]))

/** Logs what happens to a record. */
const recordLog =
  (logger: Logger, chain: string) =>
  (event: string, { id, kind, attempt, nonce }: KeptRecord, more?: object): void => {
    logger.info({ event, chain, item: id, kind, attempt, nonce, ...more }, `${kind} ${id}: ${event}`)
  }

/** Members of a chain that tell the cost of its transactions, by the market. */
const costs = (
  market: Market,
  chainId: number,
  { gasMarginBps }: PaidChain['policy'],
): Pick<SolverChain, 'costOf' | 'gasMarginBps'> => ({
  gasMarginBps,
  costOf: (transaction) => feesOf(market, chainId)?.costOf(transaction),
})

/** Fees of a chain by the market's present snapshot; undefined while it has none that may be used. */
function feesOf(market: Market, chainId: number): NetworkFees | undefined {
  const chain = market.snapshot().chain(chainId)
  return 'reason' in chain || 'reason' in chain.fees ? undefined : chain.fees
}

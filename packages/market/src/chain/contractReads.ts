import { type CurrencyKey, divideUp, type Hex, maxBigint } from '@causeway/core'
import { contractChain } from '@causeway/core/config'
import {
  balanceOfCall,
  type ContractAnswer,
  type ContractCall,
  nativeBalanceCall,
  planDataFees,
  probeCalldata,
  shapeProbes,
} from '@causeway/families'
import { type EthereumFeeFacts, type GasShape, gasShapes, gasUnits } from '@causeway/families/rules'
import type { BalancePlan, ChainPlan } from '../plan.ts'
import { createFeedReader } from '../prices/feedReader.ts'
import { createSequencerReader } from '../prices/sequencer.ts'
import { decodeUint } from '../returnData.ts'
import type { ChainReading } from './chainReading.ts'

/** The part of a reading that comes from contracts, all of it from one block. */
export type ContractFacts = Pick<ChainReading, 'feeds' | 'inventory' | 'sequencer'> & {
  /** Absent unless it was asked for. */
  readonly dataFees?: DataFees
}

/** Fees for a rollup's data on its parent chain. */
export type DataFees = Pick<EthereumFeeFacts, 'l1DataFeeWei' | 'dataByteWei'>

/** The contract calls of one refresh of one chain. */
export type ContractReading = {
  /** For one multicall; its answers go to `read`. */
  readonly calls: readonly ContractCall[]
  /** @throws UpstreamUnavailableError when a data fee cannot be read */
  read(answers: readonly ContractAnswer[]): ContractFacts
}

export type ContractReads = {
  /** Makes the calls of one refresh. Data fees are most of them and move slowly, so not every refresh asks for them. */
  readonly reading: (options: { readonly withDataFees: boolean }) => ContractReading
  /** True if the chain charges data fees as gas. */
  readonly isDataFeeGas: boolean
}

/** A sample transaction of each gas shape, for which the chain is asked its data fee. */
const feeShapes = gasShapes.map((shape) => ({
  calldata: shapeProbes[shape].words.length === 0 ? ('0x' as const) : probeCalldata(shapeProbes[shape].words),
  // An amount of usual length, since data fees count the bytes of a value.
  valueWei: shapeProbes[shape].carriesValue ? 123_456_789_012_345_678n : 0n,
  gasUnits: gasUnits[shape],
}))
/**
 * Shape whose data fee is asked a second time with `extraWords` more words of data. The difference of both
 * fees is the price of these bytes. They are hashes, because random bytes cannot be compressed.
 */
const shortShape: GasShape = 'sweep-erc20'
const extraWords = 32
const longerTransaction = {
  calldata: probeCalldata([
    ...shapeProbes[shortShape].words,
    ...Array.from({ length: extraWords }, () => 'hash' as const),
  ]),
  valueWei: 0n,
  gasUnits: gasUnits[shortShape],
}

/**
 * Plans all contract calls of a chain's refresh: balances, data fees, price feeds and the sequencer's uptime feed.
 * @param fillWallet whose balances are the inventory; without one every balance is 0
 */
export function planContractReads(plan: ChainPlan, fillWallet: Hex | undefined): ContractReads {
  const { multicall3, feeModel } = contractChain(plan.config)
  const beginFeeds = createFeedReader(plan.feeds)
  const sequencer = createSequencerReader(plan.feeds.length > 0 ? plan.config.sequencerUptimeFeed : undefined)
  const { balances } = plan
  const balanceCalls =
    fillWallet === undefined
      ? []
      : balances.map((balance) => balanceCall(balance, { multicall3, fillWallet }))
  const dataFees = planDataFees({
    chainId: plan.config.chainId,
    feeModel,
    shapes: [...feeShapes, longerTransaction],
  })
  // No transaction is sent on a chain that is read for its feeds alone, so no data fees are asked for there.
  const allFeeCalls = plan.quotable ? dataFees.calls : []
  const readFees = plan.quotable ? dataFees.read : () => []
  const reading: ContractReads['reading'] = ({ withDataFees }) => {
    const feeCalls = withDataFees ? allFeeCalls : []
    const feeds = beginFeeds()
    return {
      calls: [...balanceCalls, ...feeCalls, ...feeds.calls, ...sequencer.calls],
      read(answers) {
        // Answers come in the order of `calls`, so the members below are read in that order.
        const take = takeFrom(answers)
        return {
          inventory:
            fillWallet === undefined
              ? new Map(balances.map(({ key }) => [key, 0n]))
              : readBalances(balances, take(balanceCalls.length)),
          ...(withDataFees && { dataFees: dataFeesOf(readFees(take(feeCalls.length))) }),
          feeds: feeds.read(take(feeds.calls.length)),
          sequencer: sequencer.read(take(sequencer.calls.length)),
        }
      },
    }
  }
  return { reading, isDataFeeGas: dataFees.isGas }
}

/** Returns a function that takes the next `count` items. */
function takeFrom<T>(items: readonly T[]): (count: number) => readonly T[] {
  let position = 0
  return (count) => {
    position += count
    return items.slice(position - count, position)
  }
}

function balanceCall(
  { token }: BalancePlan,
  { multicall3, fillWallet }: { readonly multicall3: Hex; readonly fillWallet: Hex },
): ContractCall {
  return token === undefined ? nativeBalanceCall(multicall3, fillWallet) : balanceOfCall(token, fillWallet)
}

/** Balances by currency; one that cannot be read is unknown and left out. */
function readBalances(
  balances: readonly BalancePlan[],
  answers: readonly ContractAnswer[],
): ReadonlyMap<CurrencyKey, bigint> {
  const inventory = new Map<CurrencyKey, bigint>()
  for (const [index, { key }] of balances.entries()) {
    const balance = uint(answers[index])
    if (balance !== undefined) inventory.set(key, balance)
  }
  return inventory
}

/** @param fees one per shape in the order of `gasShapes` and the longer one's, or none on a chain without data fee */
function dataFeesOf(fees: readonly bigint[]): DataFees {
  const entries = gasShapes.map((shape, index) => [shape, fees[index] ?? 0n] as const)
  // CAST: built from every shape.
  const l1DataFeeWei = Object.fromEntries(entries) as Record<GasShape, bigint>
  const extraWei = maxBigint(0n, (fees[gasShapes.length] ?? 0n) - l1DataFeeWei[shortShape])
  return { l1DataFeeWei, dataByteWei: divideUp(extraWei, BigInt(32 * extraWords)) }
}

function uint(answer: ContractAnswer | undefined): bigint | undefined {
  return answer?.success === true ? decodeUint(answer.returnData) : undefined
}

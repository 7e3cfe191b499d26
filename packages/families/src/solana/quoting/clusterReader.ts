import { maxBigint } from '@causeway/core'
import type { PriorityFeeModel } from '@causeway/core/config'
import { solanaCodec } from '@causeway/core/encodings'
import type { RpcAnswer, RpcCall } from '@causeway/rpc'
import {
  countVoices,
  type Electorate,
  medianOfVoices,
  reachedBy,
  tally,
  unlessUnreadable,
} from '@causeway/rpc'
import type { NetworkFees } from '../../rules/networkFees.ts'
import type {
  NetworkFeeRefusal,
  NetworkReader,
  NetworkReaderOptions,
  NetworkReading,
} from '../../shared/networkReader.ts'
import { readByVoice, type Votes } from '../../shared/paymentVotes.ts'
import {
  clockAccount,
  parseAccountsAt,
  parsePriorityFees,
  parseRentRate,
  readClock,
  type ShownAccount,
} from '../reading/answers.ts'
import { accountsCall, priorityFeesCall, rentRateCall } from '../reading/requests.ts'
import { associatedTokenAccount, deriveProgramAddresses } from '../rules/programAddresses.ts'
import { tokenProgram } from '../rules/programs.ts'
import { lamportsPerSignature, SolanaFees } from '../rules/quoting/solanaFees.ts'
import { tokenAmountOf } from './tokenMint.ts'

/** Once enough endpoints have answered, late ones have so many milliseconds left until votes are counted. */
const patienceMs = 250

/**
 * Reads head, fees and inventory of a cluster for the market, at its newest final slot. Endpoints are at different
 * slots, so heads, times and balances are those that enough endpoints have reached. The rate of rent is the same in
 * all slots, and must be agreed on. The price of compute units is the median of the nodes' own estimates, raised to
 * the configured floor; above the ceiling nothing is quoted.
 * @source rules F-104, Q-162, Q-163
 */
export function createClusterReader(options: NetworkReaderOptions): NetworkReader {
  const { client, feeModel } = options
  if (feeModel.kind !== 'priority-fee') throw new Error('clusters charge by bids for units')
  const { electorate } = client
  const holders = holdersOf(options)
  const { vault } = deriveProgramAddresses(options.depository)
  // Their answers are read by position, by `stateIn`, `priceOf` and `rentRateOf`.
  const calls: readonly RpcCall[] = [
    accountsCall([clockAccount, ...holders.map(({ account }) => account)]),
    // Fees are those of transactions that write to the vault, as deposits do.
    priorityFeesCall([vault]),
    rentRateCall(),
  ]
  return {
    read: (limits) =>
      client.poll<NetworkReading>(calls, {
        ...limits,
        patienceMs,
        decide(votes, isLast) {
          if (!isLast) return undefined
          const states = readByVoice(votes, (answers) => stateIn(answers, holders))
          const head = headOf(states, electorate)
          if (head === undefined) return undefined
          const price = priceOf(votes, electorate, feeModel)
          const rate = rentRateOf(votes, electorate)
          return {
            head: { number: head.slot, timestampSeconds: Number(head.timeSeconds) },
            fees: feesAt(price.microLamportsPerUnit, rate, feeModel),
            shown: {
              microLamportsPerUnit: price.microLamportsPerUnit.toString(),
              ceilingMicroLamportsPerUnit: feeModel.maxMicroLamportsPerUnit.toString(),
              priceFrom: price.from,
            },
            inventory: inventoryOf(states, holders, electorate),
            voices: {
              agreed: states.filter(({ slot }) => slot >= head.slot).length,
              required: electorate.threshold,
              configured: countVoices(electorate.voters),
            },
          }
        },
      }),
  }
}

/** An account of the fill wallet that holds one currency: the wallet itself, or its token account. */
type Holder = { readonly currency: string; readonly account: string; readonly isNative: boolean }

function holdersOf({ fillWallet, currencies }: NetworkReaderOptions): readonly Holder[] {
  if (fillWallet === undefined) return []
  return currencies.map(({ address, tokenProgram: program = tokenProgram }) => {
    const isNative = address === solanaCodec.nativeCurrency
    const token = { mint: address, tokenProgram: program }
    return {
      currency: address,
      account: isNative ? fillWallet : associatedTokenAccount(fillWallet, token),
      isNative,
    }
  })
}

/** State of one endpoint's newest slot. */
type ClusterState = {
  readonly slot: bigint
  readonly timeSeconds: bigint
  /** In the order of the holders. */
  readonly balances: readonly bigint[]
}

/** @throws MalformedAnswerError */
function stateIn(answers: readonly (RpcAnswer | undefined)[], holders: readonly Holder[]): ClusterState {
  const { slot, accounts } = parseAccountsAt(answers[0], holders.length + 1)
  const [shownClock, ...held] = accounts
  return {
    slot,
    timeSeconds: readClock(shownClock),
    balances: holders.map(({ isNative }, index) => balanceOf(held[index], isNative)),
  }
}

function balanceOf(account: ShownAccount | undefined, isNative: boolean): bigint {
  return isNative ? (account?.lamports ?? 0n) : tokenAmountOf(account)
}

/** The slot and time that enough endpoints have reached; undefined if too few answered. */
function headOf(
  states: readonly ClusterState[],
  { threshold }: Electorate,
): Pick<ClusterState, 'slot' | 'timeSeconds'> | undefined {
  if (states.length < threshold) return undefined
  const reached = (memberOf: (state: ClusterState) => bigint) => reachedBy(threshold, states.map(memberOf))
  return { slot: reached(({ slot }) => slot), timeSeconds: reached(({ timeSeconds }) => timeSeconds) }
}

/** Balances that enough endpoints have reached: at least 0, because `reachedBy` is negative if too few answer. */
function inventoryOf(
  states: readonly ClusterState[],
  holders: readonly Holder[],
  { threshold }: Electorate,
): ReadonlyMap<string, bigint> {
  return new Map(
    holders.map(({ currency }, index) => [
      currency,
      maxBigint(
        0n,
        reachedBy(
          threshold,
          states.map(({ balances }) => balances[index] ?? 0n),
        ),
      ),
    ]),
  )
}

/** Price of a compute unit, and whether it is the nodes' median or the configured floor because too few answered. */
function priceOf(
  votes: Votes,
  electorate: Electorate,
  { percentile, minMicroLamportsPerUnit }: PriorityFeeModel,
): { readonly microLamportsPerUnit: bigint; readonly from: 'median' | 'configured' } {
  const lists = votes.map((vote) => ({
    ...vote,
    value: unlessUnreadable(() => parsePriorityFees(vote.value?.[1])),
  }))
  const median = medianOfVoices(lists, electorate, (prices) => percentileOf(prices, percentile))
  if (median === undefined) return { microLamportsPerUnit: minMicroLamportsPerUnit, from: 'configured' }
  return { microLamportsPerUnit: maxBigint(median, minMicroLamportsPerUnit), from: 'median' }
}

/** Percentile by nearest rank; 0 of no values. */
function percentileOf(values: readonly bigint[], percentile: number): bigint {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted[Math.max(0, Math.ceil((sorted.length * percentile) / 100) - 1)] ?? 0n
}

/** Lamports of rent per byte; undefined if too few endpoints agree. */
function rentRateOf(votes: Votes, electorate: Electorate): bigint | undefined {
  const rates = votes.map((vote) => ({
    ...vote,
    value: unlessUnreadable(() => parseRentRate(vote.value?.[2])),
  }))
  const verdict = tally(rates, electorate)
  return verdict.status === 'agreed' ? verdict.value : undefined
}

function feesAt(
  microLamportsPerUnit: bigint,
  rentLamportsPerByte: bigint | undefined,
  { maxMicroLamportsPerUnit }: PriorityFeeModel,
): NetworkFees | NetworkFeeRefusal {
  // Rent is charged with the fees, which nobody knows without its rate.
  if (rentLamportsPerByte === undefined) return { reason: 'gas_disputed' }
  return microLamportsPerUnit > maxMicroLamportsPerUnit
    ? {
        reason: 'priority_fee_above_ceiling',
        charge: 'A compute unit',
        cost: `costs ${microLamportsPerUnit} micro-lamports`,
        ceiling: maxMicroLamportsPerUnit.toString(),
      }
    : new SolanaFees({ lamportsPerSignature, microLamportsPerUnit, rentLamportsPerByte })
}

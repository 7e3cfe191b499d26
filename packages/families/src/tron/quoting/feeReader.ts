import { maxBigint } from '@causeway/core'
import type { EnergyModel } from '@causeway/core/config'
import { createTronCodec } from '@causeway/core/encodings'
import type { RpcAnswer, RpcCall } from '@causeway/rpc'
import {
  countVoices,
  type Electorate,
  reachedBy,
  tally,
  unlessUnreadable,
  type Vote,
  valuesByVoice,
} from '@causeway/rpc'
import type { NetworkFees } from '../../rules/quotingFamily.ts'
import type {
  NetworkFeeRefusal,
  NetworkReader,
  NetworkReaderOptions,
  NetworkReading,
} from '../../shared/networkReader.ts'
import { TronFees } from '../rules/quoting/tronFees.ts'
import { createEnergyMeter, type MeasuredEnergy } from './energyMeter.ts'
import {
  accountCall,
  type ChainPrices,
  headCall,
  parametersCall,
  parseCoin,
  parseHead,
  parsePrices,
  parseWord,
} from './nodeCalls.ts'
import { balanceCall } from './tokenCalls.ts'

/** Milliseconds that late endpoints have left to answer. */
const patienceMs = 250

const { nativeCurrency } = createTronCodec()

/**
 * Reads head, fees and inventory of a chain at its newest block. Nodes stand at different blocks, so of heads, times and
 * balances the value counts that enough nodes have reached. The prices of energy and bytes are parameters of the chain,
 * the same in all blocks, and agreed on. @source pricing-engine.md 1.6; design.md 5.4
 */
export function createTronNetworkReader(options: NetworkReaderOptions): NetworkReader {
  const { client, feeModel, fillWallet, currencies } = options
  if (feeModel.kind !== 'energy') throw new Error('this family charges for energy')
  const { electorate } = client
  const held = fillWallet === undefined ? [] : currencies.map(({ address }) => address)
  const tokens = currencies.map(({ address }) => address).filter((address) => address !== nativeCurrency)
  const meter = createEnergyMeter({ client, tokens, fillWallet, now: () => Date.now() })
  const calls: readonly RpcCall[] = [
    headCall,
    parametersCall,
    ...held.map((currency) =>
      currency === nativeCurrency ? accountCall(fillWallet ?? '') : balanceCall(currency, fillWallet ?? ''),
    ),
  ]
  return {
    async read(limits) {
      const measured = await meter(limits.timeoutMs)
      return client.poll<NetworkReading>(calls, {
        ...limits,
        patienceMs,
        decide: (votes, isLast) =>
          isLast ? readingOf(votes, { electorate, held, feeModel, measured }) : undefined,
      })
    },
  }
}

type Votes = readonly Vote<readonly RpcAnswer[]>[]
type State = {
  readonly number: bigint
  readonly timestampSeconds: bigint
  readonly balances: readonly bigint[]
}

function readingOf(
  votes: Votes,
  {
    electorate,
    held,
    feeModel,
    measured,
  }: {
    readonly electorate: Electorate
    readonly held: readonly string[]
    readonly feeModel: EnergyModel
    readonly measured: MeasuredEnergy
  },
): NetworkReading | undefined {
  const { threshold, voters } = electorate
  const states = valuesByVoice(
    votes.map(({ value, ...voter }) => ({ ...voter, value: value && stateIn(value, held) })),
  )
  if (states.length < threshold) return undefined
  const reached = (of: (state: State) => bigint) => reachedBy(threshold, states.map(of))
  const number = reached((state) => state.number)
  const prices = agreedPrices(votes, electorate)
  return {
    head: { number, timestampSeconds: Number(reached(({ timestampSeconds }) => timestampSeconds)) },
    fees: feesAt(prices, measured, feeModel),
    shown: {
      sunPerEnergy: (prices?.sunPerEnergy ?? 0n).toString(),
      sunPerByte: (prices?.sunPerByte ?? 0n).toString(),
      ceilingSunPerEnergy: feeModel.maxSunPerEnergy.toString(),
      energyFrom: measured.from,
    },
    inventory: new Map(
      held.map((currency, index) => [
        currency,
        maxBigint(
          0n,
          reached(({ balances }) => balances[index] ?? 0n),
        ),
      ]),
    ),
    voices: {
      agreed: states.filter((state) => state.number >= number).length,
      required: threshold,
      configured: countVoices(voters),
    },
  }
}

/** State of one endpoint's newest block; undefined if any of it cannot be read. */
function stateIn([head, , ...balances]: readonly RpcAnswer[], held: readonly string[]): State | undefined {
  return unlessUnreadable(() => {
    const { number, timestampSeconds } = parseHead(head)
    return {
      ...{ number, timestampSeconds },
      balances: held.map((currency, index) =>
        currency === nativeCurrency ? (parseCoin(balances[index]) ?? 0n) : parseWord(balances[index]),
      ),
    }
  })
}

function agreedPrices(votes: Votes, electorate: Electorate): ChainPrices | undefined {
  const priceVotes = votes.map((vote) => ({
    ...vote,
    value: unlessUnreadable(() => parsePrices(vote.value?.[1])),
  }))
  const verdict = tally(priceVotes, electorate)
  return verdict.status === 'agreed' ? verdict.value : undefined
}

function feesAt(
  prices: ChainPrices | undefined,
  { energy: tokenEnergy }: MeasuredEnergy,
  { maxSunPerEnergy }: EnergyModel,
): NetworkFees | NetworkFeeRefusal {
  if (prices === undefined) return { reason: 'gas_disputed' }
  if (prices.sunPerEnergy > maxSunPerEnergy)
    return {
      ...{ reason: 'energy_price_above_ceiling', charge: 'Energy' },
      ...{ cost: `costs ${prices.sunPerEnergy} sun`, ceiling: maxSunPerEnergy.toString() },
    }
  return new TronFees({ ...prices, tokenEnergy })
}

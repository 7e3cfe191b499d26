import type { EnergyModel } from '@causeway/core/config'
import { createTronCodec } from '@causeway/core/encodings'
import type { RpcAnswer, RpcCall } from '@causeway/rpc'
import { countVoices, type Electorate, reachedBy, tally, unlessUnreadable } from '@causeway/rpc'
import type { NetworkFees } from '../../rules/networkFees.ts'
import type {
  NetworkFeeRefusal,
  NetworkReader,
  NetworkReaderOptions,
  NetworkReading,
} from '../../shared/networkReader.ts'
import { readByVoice, type Votes } from '../../shared/paymentVotes.ts'
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

/** Once enough endpoints have answered, late ones have so many milliseconds left until votes are counted. */
const patienceMs = 250

const { nativeCurrency } = createTronCodec()

/**
 * Reads head, fees and inventory of a chain for the market, at its newest block. Nodes are at different blocks, so
 * heads, times and balances are those that enough nodes have reached. The prices of energy and bytes are parameters
 * of the chain, on which enough nodes must agree.
 */
export function createTronNetworkReader(options: NetworkReaderOptions): NetworkReader {
  const { client, feeModel, fillWallet, currencies } = options
  if (feeModel.kind !== 'energy') throw new Error('this family charges for energy')
  const { electorate } = client
  const addresses = currencies.map(({ address }) => address)
  const heldCurrencies = fillWallet === undefined ? [] : addresses
  const tokens = addresses.filter((address) => address !== nativeCurrency)
  const meter = createEnergyMeter({ client, tokens, fillWallet, now: () => performance.now() })
  const holdingCall = (wallet: string, currency: string) =>
    currency === nativeCurrency ? accountCall(wallet) : balanceCall(currency, wallet)
  const calls: readonly RpcCall[] = [
    headCall,
    parametersCall,
    ...(fillWallet === undefined ? [] : addresses.map((currency) => holdingCall(fillWallet, currency))),
  ]
  return {
    async read(limits) {
      const measured = await meter(limits.timeoutMs)
      return client.poll<NetworkReading>(calls, {
        ...limits,
        patienceMs,
        decide: (votes, isLast) =>
          isLast ? readingOf(votes, { electorate, heldCurrencies, feeModel, measured }) : undefined,
      })
    },
  }
}

/** One node's newest block, and the fill wallet's balances in the order of `heldCurrencies`. */
type State = {
  readonly number: bigint
  readonly timestampSeconds: bigint
  readonly balances: readonly bigint[]
}

type ReadingQuestion = {
  readonly electorate: Electorate
  readonly heldCurrencies: readonly string[]
  readonly feeModel: EnergyModel
  readonly measured: MeasuredEnergy
}

/** The reading by all nodes' answers; undefined if too few can be read. */
function readingOf(votes: Votes, question: ReadingQuestion): NetworkReading | undefined {
  const { electorate, heldCurrencies, feeModel, measured } = question
  const { threshold, voters } = electorate
  const states = readByVoice(votes, (answers) => stateIn(answers, heldCurrencies))
  if (states.length < threshold) return undefined
  const reached = (memberOf: (state: State) => bigint) => reachedBy(threshold, states.map(memberOf))
  const number = reached((state) => state.number)
  const prices = agreedPrices(votes, electorate)
  return {
    head: { number, timestampSeconds: Number(reached(({ timestampSeconds }) => timestampSeconds)) },
    fees: feesAt(prices, measured, feeModel),
    // While endpoints disagree about prices, 0 is shown.
    shown: {
      sunPerEnergy: (prices?.sunPerEnergy ?? 0n).toString(),
      sunPerByte: (prices?.sunPerByte ?? 0n).toString(),
      ceilingSunPerEnergy: feeModel.maxSunPerEnergy.toString(),
      energyFrom: measured.from,
    },
    inventory: new Map(
      heldCurrencies.map((currency, index) => [currency, reached(({ balances }) => balances[index] ?? 0n)]),
    ),
    voices: {
      agreed: states.filter((state) => state.number >= number).length,
      required: threshold,
      configured: countVoices(voters),
    },
  }
}

/** State of one endpoint's newest block. @throws MalformedAnswerError */
function stateIn(
  [head, _parameters, ...balances]: readonly (RpcAnswer | undefined)[],
  heldCurrencies: readonly string[],
): State {
  const { number, timestampSeconds } = parseHead(head)
  return {
    number,
    timestampSeconds,
    balances: heldCurrencies.map((currency, index) =>
      currency === nativeCurrency ? (parseCoin(balances[index]) ?? 0n) : parseWord(balances[index]),
    ),
  }
}

/** Prices of energy and bytes; undefined if too few nodes agree. */
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
      reason: 'energy_price_above_ceiling',
      charge: 'Energy',
      cost: `costs ${prices.sunPerEnergy} sun`,
      ceiling: maxSunPerEnergy.toString(),
    }
  return new TronFees({ ...prices, tokenEnergy })
}

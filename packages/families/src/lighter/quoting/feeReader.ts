import type { RpcAnswer, RpcCall } from '@causeway/rpc'
import { countVoices, type Electorate, reachedBy, tally, unlessUnreadable } from '@causeway/rpc'
import { type FlatModel, flatFeesOf } from '../../shared/flatTransfers.ts'
import type { NetworkReader, NetworkReaderOptions, NetworkReading } from '../../shared/networkReader.ts'
import { readByVoice, type Votes } from '../../shared/paymentVotes.ts'
import {
  accountCall,
  type LighterHoldings,
  parseHoldings,
  parseSeconds,
  parseTransferFee,
  statusCall,
  transferFeeCall,
} from './calls.ts'

/** Once enough endpoints have answered, late ones have so many milliseconds left until votes are counted. */
const patienceMs = 250

/**
 * Reads time, fee and inventory of the exchange for the market: times and balances are those that enough endpoints
 * have reached. The fee is the one on which they agree for a transfer to the depository, or the configured one if
 * they tell it only to owners of accounts. @source rule F-165
 */
export function createLighterNetworkReader(options: NetworkReaderOptions): NetworkReader {
  const { client, feeModel, fillWallet, depository } = options
  if (feeModel.kind !== 'flat') throw new Error('this family takes a fee for each transfer')
  const { electorate } = client
  const decimalsByCurrency = new Map(options.currencies.map(({ address, decimals }) => [address, decimals]))
  const calls: readonly RpcCall[] = [
    statusCall,
    // Without a fill wallet the depository stands for the payer.
    transferFeeCall(fillWallet ?? depository, depository),
    ...(fillWallet === undefined ? [] : [accountCall(fillWallet)]),
  ]
  return {
    read: (limits) =>
      client.poll<NetworkReading>(calls, {
        ...limits,
        patienceMs,
        decide: (votes, isLast) =>
          isLast ? readingOf(votes, { electorate, feeModel, fillWallet, decimalsByCurrency }) : undefined,
      }),
  }
}

type ReadingQuestion = {
  readonly electorate: Electorate
  readonly feeModel: FlatModel
  readonly fillWallet: string | undefined
  readonly decimalsByCurrency: ReadonlyMap<string, number>
}

/** The reading by all endpoints' answers; undefined if too few can be read. */
function readingOf(votes: Votes, question: ReadingQuestion): NetworkReading | undefined {
  const { electorate, feeModel, fillWallet, decimalsByCurrency } = question
  const { threshold, voters } = electorate
  const states = readByVoice(votes, (answers) => stateIn(answers, question))
  if (states.length < threshold) return undefined
  const reached = (memberOf: (state: State) => bigint) => reachedBy(threshold, states.map(memberOf))
  const seconds = reached((state) => state.seconds)
  const heldCurrencies = fillWallet === undefined ? [] : [...decimalsByCurrency.keys()]
  return {
    head: { number: seconds * 1_000n, timestampSeconds: Number(seconds) },
    ...flatFeesOf(feeModel, agreedFee(votes, electorate)),
    inventory: new Map(
      heldCurrencies.map((currency) => [currency, reached(({ held }) => held.get(currency) ?? 0n)]),
    ),
    voices: {
      agreed: states.filter((state) => state.seconds >= seconds).length,
      required: threshold,
      configured: countVoices(voters),
    },
  }
}

/** One endpoint's time, and the fill wallet's balances. */
type State = { readonly seconds: bigint; readonly held: LighterHoldings }

/** @throws MalformedAnswerError */
function stateIn(
  [status, _fee, account]: readonly (RpcAnswer | undefined)[],
  { fillWallet, decimalsByCurrency }: ReadingQuestion,
): State {
  const seconds = parseSeconds(status)
  if (fillWallet === undefined) return { seconds, held: new Map() }
  const held = parseHoldings(account, fillWallet, (currency) => decimalsByCurrency.get(currency))
  // An account that does not exist holds nothing.
  return { seconds, held: held ?? new Map() }
}

/** Fee on which enough endpoints agree, in millionths of a dollar. */
function agreedFee(votes: Votes, electorate: Electorate): bigint | undefined {
  const feeVotes = votes.map((vote) => ({
    ...vote,
    value: unlessUnreadable(() => parseTransferFee(vote.value?.[1])),
  }))
  const verdict = tally(feeVotes, electorate)
  return verdict.status === 'agreed' ? verdict.value : undefined
}

import type { MaybePromise } from '@causeway/core'
import { hyperliquidCodec } from '@causeway/core/encodings'
import type { ChainClient, Electorate, RpcAnswer, RpcCall } from '@causeway/rpc'
import { countVoices, reachedBy } from '@causeway/rpc'
import { agreedAnswer } from '../../shared/agreedAnswer.ts'
import { type FlatModel, flatFeesOf } from '../../shared/flatTransfers.ts'
import type { NetworkReader, NetworkReaderOptions, NetworkReading } from '../../shared/networkReader.ts'
import { readByVoice, type Votes } from '../../shared/paymentVotes.ts'
import { createRecent, recentMs } from '../../shared/recent.ts'
import {
  modeCall,
  parseHasOneSide,
  parseSpotBalances,
  parseTime,
  parseTokens,
  parseWithdrawable,
  perpsCall,
  spotCall,
  statusCall,
  tokensCall,
} from './calls.ts'

const { nativeCurrency } = hyperliquidCodec
/** Once enough endpoints have answered, late ones have so many milliseconds left until votes are counted. */
const patienceMs = 250

/**
 * Reads time, fees and inventory of the exchange for the market: times and balances are those that enough
 * endpoints have reached. Transfers are free; the fee for a recipient without an account is read per
 * recipient (`lackOf`). Perps dollars are inventory only while the fill wallet's mode lets it send them: 0 if
 * it does not, left out if the mode is unknown.
 * @source rule F-157
 */
export function createHyperliquidNetworkReader(options: NetworkReaderOptions): NetworkReader {
  const { client, feeModel, fillWallet, currencies } = options
  if (feeModel.kind !== 'flat') throw new Error('this family takes a fee for each transfer, or none')
  const { electorate } = client
  // Longer addresses name currencies of other perps dexes, whose balances are not read.
  const readCurrencies = currencies
    .map(({ address }) => address)
    .filter(({ length }) => length === nativeCurrency.length)
  const heldCurrencies = fillWallet === undefined ? undefined : readCurrencies
  const walletCalls = fillWallet === undefined ? [] : [perpsCall(fillWallet), spotCall(fillWallet)]
  const calls: readonly RpcCall[] = [statusCall, tokensCall, ...walletCalls]
  const hasTwoSides = createSidesReader(client)
  return {
    async read(limits) {
      const [reading, canPayPerps] = await Promise.all([
        client.poll<NetworkReading>(calls, {
          ...limits,
          patienceMs,
          // Counted once all have answered, or patience has ended: more votes only raise what enough reach.
          decide: (votes, isLast) =>
            isLast ? readingOf(votes, { electorate, feeModel, heldCurrencies }) : undefined,
        }),
        fillWallet === undefined ? true : hasTwoSides(fillWallet, limits.timeoutMs),
      ])
      if (canPayPerps === true || !reading.inventory.has(nativeCurrency)) return reading
      const inventory = new Map(reading.inventory)
      if (canPayPerps === false) inventory.set(nativeCurrency, 0n)
      else inventory.delete(nativeCurrency)
      return { ...reading, inventory }
    },
  }
}

/**
 * Makes a function that tells if a wallet can pay from its perps side, which its owner may change; undefined
 * if too few endpoints answer. @source F-54
 */
function createSidesReader(client: ChainClient) {
  const recent = createRecent<boolean>(() => performance.now(), { forMs: () => recentMs.steady })
  return (wallet: string, timeoutMs: number): MaybePromise<boolean | undefined> =>
    recent(wallet, () =>
      agreedAnswer(client, modeCall(wallet), parseHasOneSide, timeoutMs).then(
        (hasOneSide) => !hasOneSide,
        () => undefined,
      ),
    )
}

/** The reading by all endpoints' answers; undefined if too few can be read. `heldCurrencies`: undefined without a wallet. */
function readingOf(
  votes: Votes,
  question: {
    readonly electorate: Electorate
    readonly feeModel: FlatModel
    readonly heldCurrencies: readonly string[] | undefined
  },
): NetworkReading | undefined {
  const { electorate, feeModel, heldCurrencies = [] } = question
  const { threshold, voters } = electorate
  const states = readByVoice(votes, (answers) => stateIn(answers, question.heldCurrencies))
  if (states.length < threshold) return undefined
  const reached = (memberOf: (state: State) => bigint) => reachedBy(threshold, states.map(memberOf))
  const number = reached(({ timeMs }) => timeMs)
  // A currency that one of the endpoints does not list counts as unread.
  const listedByAll = heldCurrencies.filter((address) => states.every(({ held }) => held.has(address)))
  return {
    head: { number, timestampSeconds: Number(number / 1_000n) },
    ...flatFeesOf(feeModel),
    inventory: new Map(
      listedByAll.map((address) => [address, reached(({ held }) => held.get(address) ?? 0n)]),
    ),
    voices: {
      agreed: states.filter(({ timeMs }) => timeMs >= number).length,
      required: threshold,
      configured: countVoices(voters),
    },
  }
}

/** One endpoint's time, and balances of the fill wallet by currency. */
type State = { readonly timeMs: bigint; readonly held: ReadonlyMap<string, bigint> }

/** One endpoint's state. @param currencies of the fill wallet; undefined without one @throws MalformedAnswerError */
function stateIn(
  [status, meta, perps, spot]: readonly (RpcAnswer | undefined)[],
  currencies: readonly string[] | undefined,
): State {
  const timeMs = parseTime(status)
  if (currencies === undefined) return { timeMs, held: new Map() }
  const tokens = parseTokens(meta)
  const free = parseSpotBalances(spot, (symbol) => tokens.find(({ name }) => name === symbol)?.decimals)
  const held = currencies.flatMap((address): [string, bigint][] => {
    if (address === nativeCurrency) return [[address, parseWithdrawable(perps)]]
    const symbol = tokens.find(({ tokenId }) => tokenId === address)?.name
    return symbol === undefined ? [] : [[address, free.get(symbol) ?? 0n]]
  })
  return { timeMs, held: new Map(held) }
}

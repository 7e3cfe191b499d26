import { UpstreamUnavailableError } from '@causeway/core'
import { hyperliquidCodec } from '@causeway/core/encodings'
import type { QuorumClient, RpcAnswer, RpcCall } from '@causeway/rpc'
import {
  agreeOn,
  type ChainClient,
  countVoices,
  createJsonRpcClient,
  reachedBy,
  unlessUnreadable,
} from '@causeway/rpc'
import type { AccountLack } from '../../rules/quotingFamily.ts'
import { agreedAnswer, agreedAnswersOf } from '../../shared/agreedAnswer.ts'
import type { ChainFinding } from '../../shared/chainFinding.ts'
import { flatFeesOf } from '../../shared/flatTransfers.ts'
import type { NetworkReader, NetworkReaderOptions, NetworkReading } from '../../shared/networkReader.ts'
import { readByVoice, type Votes } from '../../shared/paymentVotes.ts'
import type {
  QuotingChain,
  QuotingChainFamily,
  QuotingChainOptions,
  SentTransfer,
  UserFacts,
  UserFactsQuestion,
} from '../../shared/quotingChain.ts'
import { createRecent, recentMs } from '../../shared/recent.ts'
import type { RegisteredChain } from '../../shared/registeredChain.ts'
import { parseOwnSends, type SpotToken } from '../reading/answers.ts'
import type { HyperliquidView } from '../reading/hyperliquidView.ts'
import { readLedger } from '../reading/ledgerPages.ts'
import { openQuorum } from '../reading/openHyperliquidChain.ts'
import { verifyHyperliquidEndpoints, verifyLocalHyperliquidEndpoints } from '../reading/verifyEndpoints.ts'
import { hyperliquidNativeDecimals } from '../rules/withdrawalTransfer.ts'
import {
  hyperliquidHeadTracking,
  modeCall,
  parseHasOneSide,
  parseSpotBalances,
  parseTime,
  parseTokens,
  parseTransferCheck,
  parseWithdrawable,
  perpsCall,
  spotCall,
  statusCall,
  tokensCall,
  transferCheckCall,
} from './calls.ts'

const { nativeCurrency, isAddress } = hyperliquidCodec
const lacksNothing: AccountLack = {}
/** Time that a start waits for a chain. */
const checkTimeoutMs = 5_000
/** An endpoint whose time is further behind the others' is not asked. */
const lagMsMax = 30_000
/** Milliseconds that late endpoints have left to answer. */
const patienceMs = 250
/** Payer in a transfer check; which account pays does not matter to the recipient's state. */
const noAccount = `0x${'0'.repeat(40)}`

/** A client of the exchange's info API, and beside it the quorum of its explorers, which show transactions. */
export type HyperliquidClient = ChainClient & { readonly explorers: QuorumClient<HyperliquidView> }

/** The explorers that `connectHyperliquid` put beside a client. @throws Error for a client of another family */
export function explorersBeside(client: ChainClient): QuorumClient<HyperliquidView> {
  if (!isOwn(client)) throw new Error('a client of another family')
  return client.explorers
}

const isOwn = (client: ChainClient): client is HyperliquidClient => 'explorers' in client

/** The live part of quoting on Hyperliquid: facts of accounts on which enough endpoints of the exchange agree. */
export const hyperliquidQuotingChain: QuotingChainFamily = {
  connect: connectHyperliquid,
  headSeconds: async (client) => Number(parseTime((await client.batch([statusCall]))[0]) / 1_000n),
  open: (options) => new HyperliquidQuoter(options),
  network: { reader: createHyperliquidNetworkReader, contradictions },
}

class HyperliquidQuoter implements QuotingChain {
  readonly unitsOfCalls = undefined
  readonly #options: QuotingChainOptions
  readonly #agreed: ReturnType<typeof agreedAnswersOf>
  readonly #recent: ReturnType<typeof openRecent>

  constructor(options: QuotingChainOptions) {
    this.#options = options
    this.#agreed = agreedAnswersOf(options.client, options.onFailure)
    this.#recent = openRecent(options.now)
  }

  async userFacts({ user, currency, touched = [] }: UserFactsQuestion): Promise<UserFacts> {
    const held = touched.map(() => undefined)
    // The user is not chosen yet.
    if (!isAddress(user)) return { held }
    const account = user.toLowerCase()
    const balance = await this.#recent.amounts(`${account} ${currency}`, () =>
      currency === nativeCurrency ? this.#perpsBalance(account) : this.#spotBalance(account, currency),
    )
    return { held, ...(balance !== undefined && { balance }) }
  }

  async #perpsBalance(account: string): Promise<bigint | undefined> {
    const { budgetMs } = this.#options
    const [hasOneSide, balance] = await Promise.all([
      this.#agreed(modeCall(account), parseHasOneSide, budgetMs),
      this.#agreed(perpsCall(account), parseWithdrawable, budgetMs),
    ])
    if (hasOneSide === undefined) return undefined
    return hasOneSide ? 0n : balance
  }

  async #spotBalance(account: string, currency: string): Promise<bigint | undefined> {
    const { budgetMs } = this.#options
    const tokens = await this.#recent.tokens('', () => this.#agreed(tokensCall, parseTokens, budgetMs))
    const token = tokens?.find(({ tokenId }) => tokenId === currency)
    if (token === undefined) return undefined
    const decimalsOf = (symbol: string) => (symbol === token.name ? token.decimals : undefined)
    return this.#agreed(
      spotCall(account),
      (answer) => parseSpotBalances(answer, decimalsOf).get(token.name) ?? 0n,
      budgetMs,
    )
  }

  lackOf(account: string): Promise<AccountLack | undefined> {
    return this.#recent.lacks(account, () =>
      this.#agreed(
        transferCheckCall(account.toLowerCase(), noAccount),
        (answer): AccountLack => {
          const { exists, accountFee } = parseTransferCheck(answer)
          return exists ? lacksNothing : { isAbsent: true, accountFee }
        },
        this.#options.neededWithinMs,
      ),
    )
  }

  async hasCode(): Promise<boolean> {
    return false
  }

  async hasSent({ account, nonce, sinceMs }: SentTransfer): Promise<boolean> {
    const { client, now, neededWithinMs } = this.#options
    const own = account.toLowerCase()
    const range = { from: BigInt(sinceMs), to: BigInt(now()) }
    const { isSent } = await agreeOn(
      explorersBeside(client),
      async (view, signal) => {
        const sends = parseOwnSends(await readLedger(view, own, range, signal), own)
        return { isSent: sends.some((send) => send.nonce === nonce) }
      },
      AbortSignal.timeout(neededWithinMs),
    )
    return isSent
  }
}

function openRecent(now: () => number) {
  return {
    // Accounts of the exchange are never removed.
    lacks: createRecent<AccountLack>(now, { isPermanent: (lack) => lack === lacksNothing }),
    amounts: createRecent<bigint>(now),
    tokens: createRecent<readonly SpotToken[]>(now, { isPermanent: () => true }),
  }
}

/** Endpoints of the exchange, asked by paths. @throws ConfigurationError for endpoints that are no URLs */
function connectHyperliquid(chain: RegisteredChain): HyperliquidClient {
  const { id, endpoints, rpcThreshold } = chain
  const client = createJsonRpcClient({
    chainId: id,
    endpoints: endpoints.map((url) => ({ url })),
    threshold: rpcThreshold,
    headTracking: hyperliquidHeadTracking,
    wire: 'paths',
    lagBlocksMax: lagMsMax,
    now: () => Date.now(),
  })
  const { quorum: explorers, observe, close } = openQuorum(chain)
  return {
    ...client,
    explorers,
    observe(observerOf) {
      client.observe(observerOf)
      observe(observerOf)
    },
    async close() {
      await Promise.all([client.close(), close()])
    },
  }
}

/** One endpoint's time, and balances of the fill wallet by currency. */
type State = { readonly timeMs: bigint; readonly held: ReadonlyMap<string, bigint> }

/**
 * Reads time, fees and inventory of the exchange for the market: times and balances are those that enough endpoints
 * have reached. Transfers are free; the fee for a recipient without an account is read per recipient (`lackOf`).
 * @source rule F-157
 */
function createHyperliquidNetworkReader(options: NetworkReaderOptions): NetworkReader {
  const { client, feeModel, fillWallet, currencies } = options
  if (feeModel.kind !== 'flat') throw new Error('this family takes a fee for each transfer, or none')
  const { electorate } = client
  const addresses = currencies.map(({ address }) => address)
  // Longer addresses name currencies of other perps dexes, whose balances are not read.
  const heldCurrencies = addresses.filter(({ length }) => length === nativeCurrency.length)
  const walletCalls = fillWallet === undefined ? [] : [perpsCall(fillWallet), spotCall(fillWallet)]
  const calls: readonly RpcCall[] = [statusCall, tokensCall, ...walletCalls]
  const recentMode = createRecent<boolean>(() => Date.now(), { forMs: recentMs.steady })
  /**
   * True if the wallet can pay from its perps side, which its owner may change; undefined if too few endpoints
   * answer. @source F-54
   */
  const hasTwoSides = (wallet: string, timeoutMs: number): Promise<boolean | undefined> =>
    recentMode(wallet, () =>
      agreedAnswer(client, modeCall(wallet), parseHasOneSide, timeoutMs).then(
        (hasOneSide) => !hasOneSide,
        () => undefined,
      ),
    )
  const decide = (votes: Votes, isLast: boolean): NetworkReading | undefined => {
    if (!isLast) return undefined
    const states = readByVoice(votes, (answers) =>
      stateIn(answers, fillWallet === undefined ? undefined : heldCurrencies),
    )
    if (states.length < electorate.threshold) return undefined
    const reached = (memberOf: (state: State) => bigint) =>
      reachedBy(electorate.threshold, states.map(memberOf))
    const number = reached(({ timeMs }) => timeMs)
    const agreedHoldings = heldCurrencies.filter((address) => states.every(({ held }) => held.has(address)))
    return {
      head: { number, timestampSeconds: Number(number / 1_000n) },
      ...flatFeesOf(feeModel),
      inventory: new Map(
        agreedHoldings.map((address) => [address, reached((state) => state.held.get(address) ?? 0n)]),
      ),
      voices: {
        agreed: states.filter(({ timeMs }) => timeMs >= number).length,
        required: electorate.threshold,
        configured: countVoices(electorate.voters),
      },
    }
  }
  return {
    async read(limits) {
      const [reading, canPayPerps] = await Promise.all([
        client.poll<NetworkReading>(calls, { ...limits, patienceMs, decide }),
        fillWallet === undefined ? true : hasTwoSides(fillWallet, limits.timeoutMs),
      ])
      if (canPayPerps === true || !reading.inventory.has(nativeCurrency)) return reading
      // Perps dollars that the wallet cannot send count as none; if that is not known, as unread.
      const inventory = new Map(reading.inventory)
      if (canPayPerps === false) inventory.set(nativeCurrency, 0n)
      else inventory.delete(nativeCurrency)
      return { ...reading, inventory }
    },
  }
}

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

/** Endpoints of another network, depositories that are no accounts, tokens of other decimals, a wallet of one side. */
async function contradictions(
  options: NetworkReaderOptions & { readonly isLocal: boolean },
): Promise<readonly ChainFinding[]> {
  const { client, depository, isLocal } = options
  const quorum = explorersBeside(client)
  const signal = AbortSignal.timeout(checkTimeoutMs)
  const [problems, publicEndpoints, wrongDecimals, oneSided] = await Promise.all([
    verifyHyperliquidEndpoints({ quorum, depositories: [depository] }, signal),
    isLocal ? verifyLocalHyperliquidEndpoints(quorum, signal) : [],
    findWrongDecimals(options),
    findOneSidedWallet(options),
  ])
  const setting = `chains: ${client.chainId}.httpRpcUrl`
  const networkFindings = [...problems, ...publicEndpoints].map((problem): ChainFinding => {
    return { kind: 'network', setting, value: 'mainnet', said: 'something else', problem }
  })
  return [...networkFindings, ...wrongDecimals, ...oneSided]
}

/** A fill wallet of one side cannot pay perps dollars, the native currency: the exchange refuses it. @source F-90 */
async function findOneSidedWallet({
  client,
  fillWallet,
  currencies,
}: NetworkReaderOptions): Promise<readonly ChainFinding[]> {
  if (fillWallet === undefined || !currencies.some(({ address }) => address === nativeCurrency)) return []
  if (!(await agreedAnswer(client, modeCall(fillWallet), parseHasOneSide, checkTimeoutMs))) return []
  const problem = `${fillWallet} is a unified account, which sends nothing from its perps side; set its mode to disabled`
  const setting = `quote: chains.${client.chainId}.fillWallet`
  return [{ kind: 'refusal', setting, value: 'two sides', said: 'one side', problem }]
}

async function findWrongDecimals({
  client,
  currencies,
}: NetworkReaderOptions): Promise<readonly ChainFinding[]> {
  const read = (answer: RpcAnswer | undefined) => unlessUnreadable(() => parseTokens(answer))
  const tokens = await agreedAnswer(client, tokensCall, read, checkTimeoutMs)
  if (tokens === undefined) throw new UpstreamUnavailableError('The exchange names no tokens.')
  return currencies.flatMap(({ address, decimals }): readonly ChainFinding[] => {
    const actualDecimals =
      address === nativeCurrency
        ? hyperliquidNativeDecimals
        : tokens.find(({ tokenId }) => tokenId === address.slice(0, nativeCurrency.length))?.decimals
    if (actualDecimals === decimals) return []
    const setting = `quote: chains.${client.chainId}.currencies.${address}`
    const problem =
      actualDecimals === undefined
        ? `there is no token ${address}`
        : `${address} has ${actualDecimals} decimals`
    return [
      { kind: 'decimals', setting, value: `${decimals}`, said: `${actualDecimals ?? 'no token'}`, problem },
    ]
  })
}

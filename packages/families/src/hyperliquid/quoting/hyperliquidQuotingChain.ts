import type { MaybePromise } from '@causeway/core'
import { UpstreamUnavailableError } from '@causeway/core'
import { hyperliquidCodec } from '@causeway/core/encodings'
import type { RpcAnswer } from '@causeway/rpc'
import { agreeOn, unlessUnreadable } from '@causeway/rpc'
import type { AccountLack } from '../../rules/networkFees.ts'
import { agreedAnswer, agreedAnswersOf } from '../../shared/agreedAnswer.ts'
import type { ChainFinding } from '../../shared/chainFinding.ts'
import type { NetworkReaderOptions } from '../../shared/networkReader.ts'
import type {
  QuotingChain,
  QuotingChainFamily,
  QuotingChainOptions,
  SentTransfer,
  UserFacts,
  UserFactsQuestion,
} from '../../shared/quotingChain.ts'
import { createRecent, recentMs } from '../../shared/recent.ts'
import { parseOwnSends, type SpotToken } from '../reading/answers.ts'
import { readLedger } from '../reading/ledgerPages.ts'
import { verifyHyperliquidEndpoints, verifyLocalHyperliquidEndpoints } from '../reading/verifyEndpoints.ts'
import { hyperliquidNativeDecimals } from '../rules/withdrawalTransfer.ts'
import {
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
import { connectHyperliquid, explorersBeside } from './connectHyperliquid.ts'
import { createHyperliquidNetworkReader } from './feeReader.ts'

const { nativeCurrency, isAddress } = hyperliquidCodec
const lacksNothing: AccountLack = {}
/** Time that a start waits for a chain. */
const checkTimeoutMs = 5_000
/** Payer in a transfer check; which account pays does not matter to the recipient's state. */
const noAccount = `0x${'0'.repeat(40)}`

/** The live part of quoting on Hyperliquid: facts of accounts on which enough endpoints of the exchange agree. */
export const hyperliquidQuotingChain: QuotingChainFamily = {
  connect: connectHyperliquid,
  headSeconds: async (client) => Number(parseTime((await client.batch([statusCall]))[0]) / 1_000n),
  open: (options) => new HyperliquidQuoter(options),
  network: { reader: createHyperliquidNetworkReader, contradictions },
}

class HyperliquidQuoter implements QuotingChain {
  // Fills of this family run no calls.
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
    // `held` is empty: no cost on this family depends on other balances, so `touched` names none.
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
    // The exchange lets such an account send nothing from its perps side, whatever that side shows.
    return hasOneSide ? 0n : balance
  }

  async #spotBalance(account: string, currency: string): Promise<bigint | undefined> {
    const { budgetMs } = this.#options
    // All currencies share one list, so its key is empty.
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

  lackOf(account: string): MaybePromise<AccountLack | undefined> {
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

  /** Accounts of the exchange have no code. */
  async hasCode(): Promise<boolean> {
    return false
  }

  async hasSent({ account, nonce, sinceMs }: SentTransfer): Promise<boolean> {
    const { client, neededWithinMs } = this.#options
    const own = account.toLowerCase()
    const range = { from: BigInt(sinceMs), to: BigInt(Date.now()) }
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
    lacks: createRecent<AccountLack>(now, {
      forMs: (lack) => (lack === lacksNothing ? Number.POSITIVE_INFINITY : recentMs.changing),
    }),
    amounts: createRecent<bigint>(now),
    // Read once: a start has checked that the exchange lists all configured tokens, and it never changes them.
    tokens: createRecent<readonly SpotToken[]>(now, { forMs: () => Number.POSITIVE_INFINITY }),
  }
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

/** Token of a currency. On a further perps dex the dex's name follows the id; all ids are as long as the native one. */
const tokenIdOf = (currency: string) => currency.slice(0, nativeCurrency.length)

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
        : tokens.find(({ tokenId }) => tokenId === tokenIdOf(address))?.decimals
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

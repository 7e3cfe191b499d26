import { type MaybePromise, mapAllMaybe } from '@causeway/core'
import { createTronCodec, tronAddress } from '@causeway/core/encodings'
import type { RpcAnswer, RpcCall } from '@causeway/rpc'
import {
  type ChainClient,
  createHttpQuorumOver,
  createJsonRpcClient,
  reachedBy,
  unlessUnreadable,
} from '@causeway/rpc'
import type { FeeFunds } from '../../rules/feeFunds.ts'
import type { InputLock } from '../../rules/inputLock.ts'
import type { AccountLack } from '../../rules/networkFees.ts'
import { agreedAnswer, agreedAnswersOf } from '../../shared/agreedAnswer.ts'
import type { ChainFinding } from '../../shared/chainFinding.ts'
import type { NetworkReaderOptions } from '../../shared/networkReader.ts'
import { readByVoice } from '../../shared/paymentVotes.ts'
import type {
  PaymentTrial,
  QuotingChain,
  QuotingChainFamily,
  QuotingChainOptions,
  TriedPayment,
  UserFacts,
  UserFactsQuestion,
} from '../../shared/quotingChain.ts'
import { createRecent, recentMs } from '../../shared/recent.ts'
import { createRecentTrials } from '../../shared/recentTrials.ts'
import type { RegisteredChain } from '../../shared/registeredChain.ts'
import { tronEndpoints } from '../reading/openTronChain.ts'
import { tronEndpointFindings, verifyLocalTronEndpoints } from '../reading/verifyEndpoints.ts'
import { createTronNetworkReader } from './feeReader.ts'
import {
  accountCall,
  codeCall,
  headCall,
  parseCoin,
  parseHead,
  parseIsContract,
  parseOwnEnergy,
  parseRun,
  parseWord,
  resourcesCall,
  tronHeadTracking,
} from './nodeCalls.ts'
import { isOfToken, tryTronPayment } from './paymentTrial.ts'
import { allowedCall, balanceCall, tokenDecimalsCall, transferTrial } from './tokenCalls.ts'

const { nativeCurrency, isAddress } = createTronCodec()
const lacksNothing: AccountLack = {}
/** Lock of a user whose own transfers fail, not only those that contracts make for him. */
const refusedByToken: InputLock = { why: 'holds a token that lets him pay nothing', isForCalls: false }
/** Time that a start waits for a chain. */
const checkTimeoutMs = 5_000
const coinDecimals = 6

/** The live part of quoting on Tron: facts of accounts at the newest blocks, on which enough nodes agree. */
export const tronQuotingChain: QuotingChainFamily = {
  connect: connectTron,
  headSeconds: async (client) => Number(parseHead((await client.batch([headCall]))[0]).timestampSeconds),
  open: (options) => new TronQuoter(options),
  network: { reader: createTronNetworkReader, contradictions },
}

class TronQuoter implements QuotingChain {
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

  userFacts({ user, currency, spender, feePayer, touched = [] }: UserFactsQuestion): MaybePromise<UserFacts> {
    // `held` is empty: no cost on this family depends on other balances, so `touched` names none.
    const held = touched.map(() => undefined)
    // The user is not chosen yet.
    if (!isAddress(user)) return { held }
    const answers = [
      this.#balanceOf(user, currency),
      spender === undefined ? undefined : this.#allowedBy(user, currency, spender),
      spender === undefined ? undefined : this.#lockOf(user, currency, spender),
      feePayer === undefined ? undefined : this.#fundsOf(feePayer),
    ] as const
    // A lock that could not be read in time counts as none.
    return mapAllMaybe(answers, ([balance, allowance, lock = 'none', feeFunds]) => ({
      held,
      ...(balance !== undefined && { balance }),
      ...(allowance !== undefined && { allowance }),
      ...(lock !== 'none' && { inputLock: lock }),
      ...(feeFunds !== undefined && { feeFunds }),
    }))
  }

  #fundsOf(payer: string): MaybePromise<FeeFunds | undefined> {
    const answers = [this.#balanceOf(payer, nativeCurrency), this.#energyOf(payer)] as const
    return mapAllMaybe(answers, ([coin, units]) =>
      coin === undefined || units === undefined ? undefined : { coin, units },
    )
  }

  #balanceOf(user: string, currency: string): MaybePromise<bigint | undefined> {
    const { budgetMs } = this.#options
    return this.#recent.amounts(`${user} ${currency}`, () =>
      currency === nativeCurrency
        ? this.#agreed(accountCall(user), (answer) => parseCoin(answer) ?? 0n, budgetMs)
        : this.#agreed(balanceCall(currency, user), parseWord, budgetMs),
    )
  }

  #allowedBy(user: string, currency: string, spender: string): MaybePromise<bigint | undefined> {
    return this.#recent.amounts(`${user} ${currency} ${spender}`, () =>
      // An allowance step that is not needed burns coin, so this may take as long as what a price needs.
      this.#agreed(allowedCall(currency, user, spender), parseWord, this.#options.neededWithinMs),
    )
  }

  /** Tokens may refuse transfers of listed holders: a transfer of one unit is simulated for a user who has some. */
  #lockOf(user: string, currency: string, spender: string): MaybePromise<InputLock | 'none' | undefined> {
    return this.#recent.locks(`${user} ${currency} ${spender}`, async () => {
      const trial = transferTrial(currency, { from: user, to: spender })
      const [balance, passes] = await Promise.all([
        this.#balanceOf(user, currency),
        this.#agreed(trial, (answer) => parseRun(answer).succeeds, this.#options.budgetMs),
      ])
      if (balance === undefined || passes === undefined) return undefined
      return passes || balance === 0n ? 'none' : refusedByToken
    })
  }

  /** Energy that enough nodes have reached: it grows back with each block, so nodes report different amounts. */
  #energyOf(user: string): MaybePromise<bigint | undefined> {
    const { client, budgetMs: timeoutMs } = this.#options
    const { threshold } = client.electorate
    return this.#recent.amounts(`energy ${user}`, async () => {
      const energy = client.poll<bigint>([resourcesCall(user)], {
        timeoutMs,
        decide(votes) {
          const energies = readByVoice(votes, ([answer]) => parseOwnEnergy(answer))
          return energies.length < threshold ? undefined : reachedBy(threshold, energies)
        },
      })
      return this.#unlessFailed(energy)
    })
  }

  lackOf(account: string, currency: string): MaybePromise<AccountLack | undefined> {
    const { neededWithinMs } = this.#options
    return this.#recent.lacks(`${account} ${currency}`, () =>
      currency === nativeCurrency
        ? this.#agreed(accountCall(account), lackOfCoin, neededWithinMs)
        : this.#agreed(balanceCall(currency, account), lackOfToken, neededWithinMs),
    )
  }

  hasCode(account: string): MaybePromise<boolean | undefined> {
    return this.#recent.codes(account, () =>
      this.#agreed(codeCall(account), parseIsContract, this.#options.neededWithinMs),
    )
  }

  tryPayment(payment: TriedPayment): MaybePromise<PaymentTrial | undefined> {
    const { client, neededWithinMs } = this.#options
    const isToken = isOfToken(payment)
    const run = () => this.#unlessFailed(tryTronPayment(client, payment, neededWithinMs))
    // Without a token's or the payee's code nothing can refuse the payment.
    const tryCode = (dependsOnCode: boolean | undefined): MaybePromise<PaymentTrial | undefined> => {
      if (dependsOnCode === undefined) return undefined
      return dependsOnCode ? this.#recent.trials(payment, { isToken, run }) : { refusal: undefined }
    }
    const dependsOnCode = isToken ? true : this.hasCode(payment.account)
    return dependsOnCode instanceof Promise ? dependsOnCode.then(tryCode) : tryCode(dependsOnCode)
  }

  #unlessFailed<Value>(work: Promise<Value>): Promise<Value | undefined> {
    return work.catch((error: unknown) => {
      this.#options.onFailure(error)
      return undefined
    })
  }
}

function openRecent(now: () => number) {
  const steady = { forMs: () => recentMs.steady }
  return {
    amounts: createRecent<bigint>(now),
    // `none` is a known result, and cached; undefined means that it was not read.
    locks: createRecent<InputLock | 'none'>(now, steady),
    lacks: createRecent<AccountLack>(now, steady),
    codes: createRecent<boolean>(now, steady),
    trials: createRecentTrials(now),
  }
}

const lackOfCoin = (answer: RpcAnswer | undefined): AccountLack =>
  parseCoin(answer) === undefined ? { isAbsent: true } : lacksNothing

const lackOfToken = (answer: RpcAnswer | undefined): AccountLack =>
  parseWord(answer) === 0n ? { holdsNone: true } : lacksNothing

/** Nodes of the chain, asked by paths. @throws ConfigurationError for endpoints that are no URLs */
function connectTron(chain: RegisteredChain): ChainClient {
  const { id, rpcThreshold } = chain
  return createJsonRpcClient({
    chainId: id,
    endpoints: tronEndpoints(chain),
    threshold: rpcThreshold,
    headTracking: tronHeadTracking,
    wire: 'paths',
  })
}

/** Endpoints of another network, contracts that are not there, and tokens of other decimals. */
async function contradictions(
  options: NetworkReaderOptions & { readonly isLocal: boolean },
): Promise<readonly ChainFinding[]> {
  const { client, hubChainId, depository, isLocal } = options
  const quorum = createHttpQuorumOver(client, (view) => view)
  const signal = AbortSignal.timeout(checkTimeoutMs)
  const contract = { setting: `chains: ${client.chainId}.depository`, address: depository }
  const [endpointFindings, publicEndpoints, contractFindings] = await Promise.all([
    tronEndpointFindings({ quorum, chainId: BigInt(hubChainId), contract }, signal),
    isLocal ? verifyLocalTronEndpoints(quorum, signal) : [],
    contractContradictions(options),
  ])
  const setting = `chains: ${client.chainId}.httpRpcUrl`
  const localFindings = publicEndpoints.map((problem): ChainFinding => {
    return { kind: 'network', setting, value: 'a local network', said: 'another node', problem }
  })
  return [...endpointFindings, ...localFindings, ...contractFindings]
}

async function contractContradictions({
  client,
  fillContract,
  currencies,
}: NetworkReaderOptions): Promise<readonly ChainFinding[]> {
  const agreed = <Said>(call: RpcCall, read: (answer: RpcAnswer | undefined) => Said) =>
    agreedAnswer(client, call, (answer) => unlessUnreadable(() => read(answer)), checkTimeoutMs)
  const checkFillContract = async (): Promise<readonly ChainFinding[]> => {
    if (fillContract === undefined) return []
    const address = tronAddress(fillContract)
    if ((await agreed(codeCall(address), parseIsContract)) === true) return []
    const setting = `quote: chains.${client.chainId}.fillContract`
    const problem = `${setting}: there is no contract at ${address}`
    return [{ kind: 'contract', setting, value: address, said: 'no contract', problem }]
  }
  const currencyChecks = currencies.map(async ({ address, decimals }): Promise<readonly ChainFinding[]> => {
    const isCoin = address === nativeCurrency
    const actualDecimals = isCoin ? BigInt(coinDecimals) : await agreed(tokenDecimalsCall(address), parseWord)
    if (actualDecimals === BigInt(decimals)) return []
    const setting = `quote: chains.${client.chainId}.currencies.${address}`
    if (actualDecimals === undefined)
      return [
        { kind: 'contract', setting, value: address, said: 'no token', problem: `${address} is no token` },
      ]
    const problem = `${address} has ${actualDecimals} decimals`
    return [{ kind: 'decimals', setting, value: `${decimals}`, said: `${actualDecimals}`, problem }]
  })
  return (await Promise.all([checkFillContract(), ...currencyChecks])).flat()
}

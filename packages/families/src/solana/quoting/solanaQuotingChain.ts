import { type MaybePromise, mapAllMaybe } from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import { createLruCache, createQuorumOver } from '@causeway/rpc'
import type { InputLock } from '../../rules/inputLock.ts'
import type { AccountLack } from '../../rules/networkFees.ts'
import type { ChainFinding } from '../../shared/chainFinding.ts'
import type { NetworkReaderOptions } from '../../shared/networkReader.ts'
import {
  connectByJsonRpc,
  type QuotingChain,
  type QuotingChainFamily,
  type QuotingChainOptions,
  type UserFacts,
  type UserFactsQuestion,
} from '../../shared/quotingChain.ts'
import { createRecent, recentMs } from '../../shared/recent.ts'
import { exactLamportsMax, type ShownAccount } from '../reading/answers.ts'
import { solanaHeadTracking } from '../reading/requests.ts'
import { solanaEndpointFindings, verifyLocalCluster } from '../reading/verifyEndpoints.ts'
import { associatedTokenAccount, deriveProgramAddresses, isSolanaKey } from '../rules/programAddresses.ts'
import { systemProgram, tokenProgram } from '../rules/programs.ts'
import { createAccountGroups, type Limits } from './accountGroups.ts'
import { createClusterReader } from './clusterReader.ts'
import { addressProgramFindings } from './programCode.ts'
import { lockOfHolder, readTokenMint, refusalOfHolder, type TokenMint, tokenAmountOf } from './tokenMint.ts'

/** Limit of cached mints: a mint's program and extensions never change. */
const mintsMax = 1_000
const lacksNothing: AccountLack = {}

/**
 * The live part of quoting on Solana: accounts at the newest final slot. A user's balance, which is only shown, is
 * asked of one endpoint. Facts by which a quote charges or refuses are asked of all.
 */
export const solanaQuotingChain: QuotingChainFamily = {
  // Slots are shorter than other chains' blocks, so endpoints may be further apart.
  connect: (chain) => connectByJsonRpc(chain, { headTracking: solanaHeadTracking, lagBlocksMax: 50 }),
  open: (options) => new SolanaQuoter(options),
  network: {
    reader: createClusterReader,
    async contradictions(options) {
      const { client, network, depository, isLocal } = options
      const quorum = createQuorumOver(client)
      const signal = AbortSignal.timeout(checkTimeoutMs)
      const limits = { timeoutMs: checkTimeoutMs }
      const [endpointFindings, publicEndpoints, mintFindings, programFindings] = await Promise.all([
        solanaEndpointFindings({ quorum, network, depository }, signal),
        isLocal ? verifyLocalCluster(quorum, signal) : [],
        mintContradictions(options),
        addressProgramFindings(options.depositAddressProgram, {
          groups: createAccountGroups(client),
          limits,
          chainId: client.chainId,
        }),
      ])
      const setting = `chains: ${client.chainId}.httpRpcUrl`
      const localFindings = publicEndpoints.map((problem): ChainFinding => {
        return { kind: 'network', setting, value: 'a local network', said: 'another node', problem }
      })
      return [...endpointFindings, ...localFindings, ...mintFindings, ...programFindings]
    },
  },
}

class SolanaQuoter implements QuotingChain {
  // Fills of this family run no calls.
  readonly unitsOfCalls = undefined
  readonly #options: QuotingChainOptions
  readonly #groups: ReturnType<typeof createAccountGroups>
  readonly #mints = createLruCache<TokenMint>(mintsMax)
  readonly #recent: ReturnType<typeof openRecent>

  constructor(options: QuotingChainOptions) {
    this.#options = options
    this.#groups = createAccountGroups(options.client)
    this.#recent = openRecent(options.now)
  }

  userFacts({ user, currency, feePayer, touched = [] }: UserFactsQuestion): MaybePromise<UserFacts> {
    const answers = [
      this.#balanceOf(user, currency),
      feePayer === undefined ? undefined : this.#coinOf(feePayer),
      this.#lockOf(user, currency),
    ] as const
    // A lock that could not be read in time counts as none.
    return mapAllMaybe(answers, ([balance, coin, lock = 'none']) => ({
      ...(balance !== undefined && { balance }),
      // `held` is empty: no cost on this family depends on other balances, so `touched` names none.
      held: touched.map(() => undefined),
      ...(coin !== undefined && { feeFunds: { coin } }),
      ...(lock !== 'none' && { inputLock: lock }),
    }))
  }

  #balanceOf(user: string, currency: string): MaybePromise<bigint | undefined> {
    return this.#recent.balances(`${user} ${currency}`, () =>
      this.#unlessFailed(this.#options.budgetMs, async (limits) => {
        if (currency === solanaCodec.nativeCurrency)
          return lamportsOf(await this.#groups.ofOneEndpoint(user, limits))
        const mint = this.#mints.get(currency) ?? (await this.#readMint(currency, limits))
        if (mint === undefined) return undefined
        const holder = tokenAccountOf(user, currency, mint)
        return tokenAmountOf(await this.#groups.ofOneEndpoint(holder, limits))
      }),
    )
  }

  #coinOf(payer: string): MaybePromise<bigint | undefined> {
    return this.#recent.coins(payer, () =>
      this.#unlessFailed(this.#options.budgetMs, (limits) =>
        this.#groups.agreed([payer], ([account]) => lamportsOf(account), limits),
      ),
    )
  }

  #lockOf(user: string, currency: string): MaybePromise<InputLock | 'none' | undefined> {
    return this.#recent.locks(`${user} ${currency}`, () =>
      this.#unlessFailed(this.#options.budgetMs, async (limits) => {
        if (currency === solanaCodec.nativeCurrency) return 'none'
        const mint = this.#mints.get(currency) ?? (await this.#readMint(currency, limits))
        if (mint === undefined) return undefined
        const holder = tokenAccountOf(user, currency, mint)
        return this.#groups.agreed(
          [holder],
          ([holderAccount]) => lockOfHolder(holderAccount, user) ?? 'none',
          limits,
        )
      }),
    )
  }

  lackOf(account: string, currency: string): MaybePromise<AccountLack | undefined> {
    return this.#recent.lacks(`${account} ${currency}`, () =>
      this.#unlessFailed(this.#options.neededWithinMs, async (limits) => {
        if (currency === solanaCodec.nativeCurrency)
          return this.#groups.agreed([account], ([shownAccount]) => lackOfCoin(shownAccount), limits)
        const mint = this.#mints.get(currency) ?? (await this.#readMint(currency, limits))
        if (mint === undefined) return undefined
        const holder = tokenAccountOf(account, currency, mint)
        return this.#groups.agreed(
          [holder],
          ([holderAccount]) => lackOfToken(holderAccount, mint, account),
          limits,
        )
      }),
    )
  }

  hasCode(account: string): MaybePromise<boolean | undefined> {
    return this.#recent.codes(account, () =>
      this.#unlessFailed(this.#options.neededWithinMs, async (limits) => {
        // Off the curve: a program signs for the address, or nobody does.
        if (!isSolanaKey(account)) return true
        return this.#groups.agreed([account], ([shownAccount]) => isCode(shownAccount), limits)
      }),
    )
  }

  /**
   * Reads and caches a mint. Callers look into the cache themselves: if they waited for this function, a
   * question with a cached mint would miss the group of its moment.
   */
  async #readMint(currency: string, limits: Limits): Promise<TokenMint | undefined> {
    const read = ([account]: readonly (ShownAccount | undefined)[]) =>
      account && readTokenMint(account.owner, account.data)
    const mint = await this.#groups.agreed([currency], read, limits)
    if (mint !== undefined) this.#mints.set(currency, mint)
    return mint
  }

  /** Undefined where nothing is known in time; never rejects. */
  async #unlessFailed<Value>(
    timeoutMs: number,
    work: (limits: Limits) => Promise<Value>,
  ): Promise<Value | undefined> {
    try {
      return await work({ timeoutMs })
    } catch (error) {
      this.#options.onFailure(error)
      return undefined
    }
  }
}

function openRecent(now: () => number) {
  return {
    balances: createRecent<bigint>(now),
    coins: createRecent<bigint>(now),
    // `none` is a known result, and cached; undefined means that it was not read.
    locks: createRecent<InputLock | 'none'>(now),
    lacks: createRecent<AccountLack>(now, { forMs: () => recentMs.steady }),
    codes: createRecent<boolean>(now, { forMs: () => recentMs.steady }),
  }
}

/**
 * Findings on listed currencies: no mint, other decimals or program, transfers that do not simply arrive, or no token
 * account of the depository, whose rent its first depositor would pay unasked.
 */
async function mintContradictions({
  client,
  depository,
  currencies,
}: NetworkReaderOptions): Promise<readonly ChainFinding[]> {
  const { vaultTokenAccount } = deriveProgramAddresses(depository)
  const limits = { timeoutMs: checkTimeoutMs }
  const groups = createAccountGroups(client)
  const checks = currencies
    .filter(({ address }) => address !== solanaCodec.nativeCurrency)
    .map(
      async ({
        address,
        decimals,
        tokenProgram: program = tokenProgram,
      }): Promise<readonly ChainFinding[]> => {
        const listed = { address, decimals, program }
        const vaultAccount = vaultTokenAccount({ mint: address, tokenProgram: program })
        const shown = await groups.agreed(
          [address],
          ([account]) => account && readTokenMint(account.owner, account.data),
          limits,
        )
        const setting = `quote: chains.${client.chainId}.currencies.${address}`
        if (shown === undefined)
          return [
            { kind: 'contract', setting, value: address, said: 'no mint', problem: `${address} is no mint` },
          ]
        const hasAccount = await groups.agreed([vaultAccount], ([held]) => held?.owner === program, limits)
        const findings = compareMint(listed, shown)
        if (!hasAccount) {
          const problem = `the depository has no account of ${address}: make ${vaultAccount} first`
          findings.push({ kind: 'vaultAccount', value: vaultAccount, said: 'no account', problem })
        }
        // `setting` comes second, as in all findings.
        return findings.map(({ kind, ...finding }) => ({ kind, setting, ...finding }))
      },
    )
  return (await Promise.all(checks)).flat()
}

/** Differences between a listed currency and its mint, without the setting that lists it. Pure. */
function compareMint(
  listed: { readonly address: string; readonly decimals: number; readonly program: string },
  { decimals, program, refusal }: TokenMint,
): Omit<ChainFinding, 'setting'>[] {
  const { address } = listed
  const findings: Omit<ChainFinding, 'setting'>[] = []
  if (decimals !== listed.decimals) {
    const problem = `${address} has ${decimals} decimals`
    findings.push({ kind: 'decimals', value: `${listed.decimals}`, said: `${decimals}`, problem })
  }
  if (program !== listed.program) {
    const problem = `${address} belongs to the token program ${program}`
    findings.push({ kind: 'tokenProgram', value: listed.program, said: program, problem })
  }
  if (refusal !== undefined) {
    const problem = `${address} ${refusal}: it cannot be quoted`
    findings.push({ kind: 'refusal', value: address, said: `it ${refusal}`, problem })
  }
  return findings
}

/** Time that a start waits for a chain. */
const checkTimeoutMs = 5_000

function tokenAccountOf(owner: string, mint: string, { program }: TokenMint): string {
  return associatedTokenAccount(owner, { mint, tokenProgram: program })
}

/** Pure. The result holds no balance, because endpoints' results are compared and balances change with slots. */
function lackOfCoin(account: ShownAccount | undefined): AccountLack {
  const lamports = lamportsOf(account)
  // An account without lamports is removed by the first transaction that writes to it, so it counts as
  // absent. No account is made with less than its rent. One that has less since rent was raised may be paid
  // any amount.
  // @source SIMD-0392
  if (lamports === 0n) return { isAbsent: true }
  return lamports > exactLamportsMax ? { isUncountable: true } : lacksNothing
}

/** State that the token account of a recipient lacks. */
function lackOfToken(holder: ShownAccount | undefined, mint: TokenMint, owner: string): AccountLack {
  if (holder?.owner !== mint.program) return { stateBytes: mint.accountBytes }
  const refusal = refusalOfHolder(holder, owner)
  return refusal === undefined ? lacksNothing : { refusal }
}

const isCode = (account: ShownAccount | undefined): boolean =>
  account !== undefined && (account.isExecutable || account.owner !== systemProgram)

const lamportsOf = (account: ShownAccount | undefined): bigint => account?.lamports ?? 0n

import type { Hex } from '@causeway/core'
import type { JsonRpcClient } from '../rpc/jsonRpc.ts'
import { readUintResult } from './abiReader.ts'
import { allowanceCall, balanceOfCall, nativeBalanceCall } from './erc20Calls.ts'
import { type ContractAnswer, type ContractCall, multicall } from './multicall.ts'
import { RecentCache } from './recentCache.ts'

/** What a chain says about a user, in smallest units; members are missing when it did not say it in time. */
export type UserFacts = { readonly balance?: bigint; readonly allowance?: bigint }

export type UserFactsQuestion = {
  readonly user: string
  /** Token address, or the zero address for the native currency. */
  readonly currency: string
  /** Who may spend the token; without one the allowance is not read. */
  readonly spender: string | undefined
}

/** Reads balances and allowances of one chain's users for quotes. */
export interface UserFactsReader {
  /** Never rejects, and never takes longer than `budgetMs`. */
  read(question: UserFactsQuestion, options: { readonly budgetMs: number }): Promise<UserFacts>
}

export type UserFactsOptions = {
  readonly client: JsonRpcClient
  readonly multicall3: Hex
  /** The block that facts are read at, and cached for; `undefined` while none is known. */
  readonly currentHead: () => { readonly number: bigint; readonly hash: Hex } | undefined
  /** Facts kept, least recently used ones dropped. Default 10 000. */
  readonly entriesMax?: number
  /** How long a call may go on after its callers' budgets, so that the next one finds the facts. Default 500. */
  readonly callTimeoutMs?: number
  /** Told of every call that brought nothing, for logs and metrics; readers only see missing facts. */
  readonly onFailure?: (error: unknown) => void
}

const membersMax = 200
/** Above this, questions are answered with nothing at once: the chain is slower than its users. */
const waitingMax = 1_000
const nothing: UserFacts = {}
const zeroAddress = `0x${'0'.repeat(40)}`
/** Nobody's accounts, which pages use before a wallet is connected. */
const nobody: ReadonlySet<string> = new Set([zeroAddress, `0x${'0'.repeat(36)}dead`])
const addressPattern = /^0x[0-9a-f]{40}$/

type Member = {
  readonly key: string
  readonly calls: readonly ContractCall[]
  readonly blockHash: Hex
  readonly answer: (facts: UserFacts) => void
}

/**
 * One multicall serves many users: while one is out, further questions gather and leave together when it
 * returns, as a group commit does. An idle chain is asked at once and a busy one is asked once.
 * @source design.md 5.4
 */
export function createUserFactsReader(options: UserFactsOptions): UserFactsReader {
  const { client, multicall3, currentHead, entriesMax = 10_000, callTimeoutMs = 500, onFailure } = options
  const known = new RecentCache<UserFacts>(entriesMax)
  const underway = new Map<string, Promise<UserFacts>>()
  let waiting: Member[] = []
  let busy = false

  async function run(): Promise<void> {
    if (busy) return
    busy = true
    // Questions of the same moment leave in the first call already.
    await Promise.resolve()
    while (waiting.length > 0) {
      const group = takeGroup()
      try {
        const facts = await readGroup(group)
        settle(group, (index) => facts[index] ?? nothing)
      } catch (error) {
        // Who waits would only wait for the same failure.
        settle([...group, ...waiting.splice(0)], () => undefined)
        onFailure?.(error)
      }
    }
    busy = false
  }

  function settle(members: readonly Member[], factsAt: (index: number) => UserFacts | undefined): void {
    for (const [index, member] of members.entries()) {
      const facts = factsAt(index)
      if (facts !== undefined) known.set(member.key, facts)
      underway.delete(member.key)
      member.answer(facts ?? nothing)
    }
  }

  /** Members of one call share its block; others stay for the next. */
  function takeGroup(): readonly Member[] {
    const blockHash = waiting[0]?.blockHash
    const group = waiting.filter((member) => member.blockHash === blockHash).slice(0, membersMax)
    const taken = new Set(group)
    waiting = waiting.filter((member) => !taken.has(member))
    return group
  }

  /** Facts in the order of the group. @throws DomainError when the chain does not answer */
  async function readGroup(group: readonly Member[]): Promise<readonly UserFacts[]> {
    const hash = group[0]?.blockHash
    if (hash === undefined) return []
    const calls = group.flatMap((member) => member.calls)
    const where = { multicall3, calls, block: { hash } }
    const answers = await multicall(client, where, { timeoutMs: callTimeoutMs })
    let next = 0
    return group.map(({ calls: own }) => {
      const mine = answers.slice(next, next + own.length)
      next += own.length
      return factsOf(mine)
    })
  }

  function ask(key: string, calls: readonly ContractCall[], blockHash: Hex): Promise<UserFacts> {
    const asked = new Promise<UserFacts>((answer) => {
      waiting.push({ key, calls, blockHash, answer })
    })
    underway.set(key, asked)
    void run()
    return asked
  }

  return {
    async read(question, { budgetMs }) {
      const calls = callsFor(question, multicall3)
      const head = currentHead()
      if (calls === undefined || head === undefined) return nothing
      const key = [head.hash, ...calls.map(({ target, callData }) => target + callData)].join()
      const facts = known.get(key) ?? underway.get(key)
      if (facts === undefined && waiting.length >= waitingMax) return nothing
      const found = facts ?? ask(key, calls, head.hash)
      return found instanceof Promise ? within(budgetMs, found) : found
    },
  }
}

/** `undefined` for questions that no chain needs to be asked. */
function callsFor(question: UserFactsQuestion, multicall3: Hex): readonly ContractCall[] | undefined {
  const user = readAddress(question.user)
  const currency = readAddress(question.currency)
  if (user === undefined || currency === undefined || nobody.has(user)) return undefined
  if (currency === zeroAddress) return [nativeBalanceCall(multicall3, user)]
  const spender = question.spender === undefined ? undefined : readAddress(question.spender)
  return [
    balanceOfCall(currency, user),
    ...(spender === undefined ? [] : [allowanceCall(currency, user, spender)]),
  ]
}

function readAddress(text: string): Hex | undefined {
  const lower = text.toLowerCase()
  return addressPattern.test(lower) ? `0x${lower.slice(2)}` : undefined
}

function factsOf([balance, allowance]: readonly ContractAnswer[]): UserFacts {
  return {
    ...(isWord(balance) && { balance: readUintResult(balance.returnData, 'balanceOf') }),
    ...(isWord(allowance) && { allowance: readUintResult(allowance.returnData, 'allowance') }),
  }
}

function isWord(answer: ContractAnswer | undefined): answer is ContractAnswer {
  return answer?.success === true && answer.returnData.length >= 66
}

function within(budgetMs: number, facts: Promise<UserFacts>): Promise<UserFacts> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, budgetMs, nothing)
    void facts.then((found) => {
      clearTimeout(timer)
      resolve(found)
    })
  })
}

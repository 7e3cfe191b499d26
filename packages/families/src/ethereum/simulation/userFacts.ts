import type { Hex, MaybePromise } from '@causeway/core'
import type { JsonRpcClient } from '@causeway/rpc'
import { createLruCache, type LruCache } from '@causeway/rpc'
import type { UserFacts, UserFactsQuestion } from '../../shared/quotingChain.ts'
import { readUintResult } from '../contracts/abiReader.ts'
import { allowanceCall, balanceOfCall, emptyMoveCall, nativeBalanceCall } from '../contracts/erc20Calls.ts'
import { type ContractAnswer, type ContractCall, hasWords, multicall } from '../contracts/multicall.ts'
import { burntAccounts } from '../rules/reservedAccounts.ts'

/** Facts of one user, from one endpoint. */
export type ReadFacts = UserFacts & {
  /** The token refused a transfer of 0 from the user: a hint that it blocks him, which `createInputLocks` verifies. */
  readonly isMoveRefused?: true
}

/** Reads balances and allowances of one chain's users for quotes. */
export interface UserFactsReader {
  /** Never rejects, and never takes longer than `budgetMs`. */
  read(question: UserFactsQuestion, options: { readonly budgetMs: number }): MaybePromise<ReadFacts>
}

export type UserFactsOptions = {
  readonly client: JsonRpcClient
  readonly multicall3: Hex
  /** The block at which facts are read, and for which they are cached; `undefined` while none is known. */
  readonly currentHead: () => { readonly number: bigint; readonly hash: Hex } | undefined
  /** Facts kept, least recently used ones dropped. Default 10 000. */
  readonly entriesMax?: number
  /** Milliseconds that a call may take, also past its callers' budgets, so that later ones find facts. Default 500. */
  readonly callTimeoutMs?: number
  /** Milliseconds of a clock that never goes back. Default: `performance.now`. */
  readonly now?: () => number
  /** Called with the error of every failed call, for logs and metrics; callers only see missing facts. */
  readonly onFailure?: (error: unknown) => void
}

/** Questions of one call. */
const membersMax = 200
/** With so many questions waiting, more are answered without facts at once: the chain is slower than its users. */
const waitingMax = 1_000
/** Users who ask again within this time are regular: a page that shows a quote renews it every few seconds. */
const asksAgainWithinMs = 15_000
/** A regular user's asking is noted once in this time: a page may ask many times a second. */
const notedForMs = 500
const nothing: ReadFacts = {}
const zeroAddress = `0x${'0'.repeat(40)}`
/** Addresses of nobody, which pages use before a wallet is connected. */
export const nobody: ReadonlySet<string> = new Set(burntAccounts)
const addressPattern = /^0x[0-9a-f]{40}$/

/** Calls of one question, in order: the balance, `heldCount` balances of `touched`, the allowance, a transfer of 0. */
type UserFactsCalls = { readonly calls: readonly ContractCall[]; readonly heldCount: number }

/** One question about the newest block: a member of the group that shares a call, and an entry of the cache. */
type GroupMember = {
  readonly key: string
  readonly userCalls: UserFactsCalls
  readonly blockHash: Hex
  readonly facts: Promise<ReadFacts>
  readonly answer: (facts: ReadFacts) => void
  /** Undefined until the answer is there. */
  answered: ReadFacts | undefined
  /** When the asking of a regular user was last noted. */
  notedAtMs?: number
}

/**
 * Reads facts of many users in one multicall. While one is out, further questions gather for the next, like a group
 * commit: an idle chain is asked at once, a busy one by one call at a time. After a new block, free places of a call
 * are filled with questions of regular users: they asked twice within `asksAgainWithinMs`, the second time at most that
 * long ago, so they will probably ask again.
 * @source rule Q-182
 */
export function createUserFactsReader(options: UserFactsOptions): UserFactsReader {
  return new GroupedReader(options)
}

/**
 * A question about the newest block is at one of three places:
 * - in `#members` and `#waiting`: enqueued by `read`, or by `#enqueueRegulars` before anybody asks
 * - in `#members` alone, not answered: in the call that is out; whoever asks the same shares its `facts`
 * - in `#members`, answered: cached until a new block; a failure removes it
 *
 * Members of an older block may still wait or be out when a new one comes: they are answered, as of their own
 * block, and `read` replaces them in `#members`. One call is out at a time, with questions of one block.
 */
class GroupedReader implements UserFactsReader {
  readonly #options: UserFactsOptions
  readonly #members: LruCache<GroupMember>
  #waiting: GroupMember[] = []
  #isSending = false
  #headHash: Hex | undefined
  /** Time of each question's last asking, by key. */
  readonly #askedAtMs: LruCache<number>
  /** Calls of questions that came again, by key: read ahead at the next block. */
  readonly #regulars = createLruCache<UserFactsCalls>(membersMax)
  /** Regulars still to be read at `#headHash`: filled by each new block, emptied by `#enqueueRegulars`. */
  #toReadAhead: Map<string, UserFactsCalls> = new Map()
  readonly #now: () => number

  constructor(options: UserFactsOptions) {
    this.#options = options
    const { entriesMax = 10_000 } = options
    this.#members = createLruCache(entriesMax)
    this.#askedAtMs = createLruCache(entriesMax)
    this.#now = options.now ?? (() => performance.now())
  }

  read(question: UserFactsQuestion, { budgetMs }: { readonly budgetMs: number }): MaybePromise<ReadFacts> {
    const head = this.#options.currentHead()
    if (head === undefined) return nothing
    if (head.hash !== this.#headHash) this.#followHead(head.hash)
    const key = keyOf(question)
    const cached = this.#members.get(key)
    if (cached?.blockHash === head.hash) {
      this.#noteAsked(cached)
      return cached.answered ?? within(budgetMs, cached.facts, nothing)
    }
    const userCalls = callsFor(question, this.#options.multicall3)
    if (userCalls === undefined || this.#waiting.length >= waitingMax) return nothing
    const member = this.#enqueue(key, userCalls, head.hash)
    this.#noteAsked(member)
    void this.#sendGroups()
    return within(budgetMs, member.facts, nothing)
  }

  /** After a new block, regular users who asked lately are to be read ahead. */
  #followHead(headHash: Hex): void {
    this.#headHash = headHash
    this.#toReadAhead = new Map([...this.#regulars.entries()].filter(([key]) => this.#askedLately(key)))
  }

  /** Notes the time of a question; one that comes again soon makes its user a regular. */
  #noteAsked(member: GroupMember): void {
    const nowMs = this.#now()
    if (member.notedAtMs !== undefined && nowMs - member.notedAtMs < notedForMs) return
    const { key, userCalls } = member
    if (this.#askedLately(key)) {
      this.#regulars.set(key, userCalls)
      member.notedAtMs = nowMs
    }
    this.#askedAtMs.set(key, nowMs)
  }

  #askedLately(key: string): boolean {
    const askedAtMs = this.#askedAtMs.get(key)
    return askedAtMs !== undefined && this.#now() - askedAtMs <= asksAgainWithinMs
  }

  #enqueue(key: string, userCalls: UserFactsCalls, blockHash: Hex): GroupMember {
    let answer: (facts: ReadFacts) => void = () => undefined
    const facts = new Promise<ReadFacts>((resolve) => {
      answer = resolve
    })
    const member: GroupMember = { key, userCalls, blockHash, facts, answer, answered: undefined }
    this.#members.set(key, member)
    this.#waiting.push(member)
    return member
  }

  async #sendGroups(): Promise<void> {
    if (this.#isSending) return
    this.#isSending = true
    // Questions of the same moment leave in the first call already.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const group = this.#takeGroup()
      try {
        const facts = await this.#readGroup(group)
        for (const [index, member] of group.entries()) this.#settle(member, facts[index] ?? nothing)
      } catch (error) {
        // All other waiting members would fail in the same way.
        for (const member of [...group, ...this.#waiting.splice(0)]) this.#giveUp(member)
        this.#options.onFailure?.(error)
      }
    }
    this.#isSending = false
  }

  #settle(member: GroupMember, facts: UserFacts): void {
    member.answered = facts
    member.answer(facts)
  }

  /** Answers without facts and removes the question from the cache, so that it is asked anew next time. */
  #giveUp(member: GroupMember): void {
    if (this.#members.get(member.key) === member) this.#members.delete(member.key)
    this.#settle(member, nothing)
  }

  /** Waiting questions about the same block as the first one, for one call; others stay for the next. */
  #takeGroup(): readonly GroupMember[] {
    const blockHash = this.#waiting[0]?.blockHash
    if (blockHash !== undefined && blockHash === this.#headHash) this.#enqueueRegulars(blockHash)
    const group = this.#waiting.filter((member) => member.blockHash === blockHash).slice(0, membersMax)
    const members = new Set(group)
    this.#waiting = this.#waiting.filter((member) => !members.has(member))
    return group
  }

  /** Fills free places of the next call with regular users' questions. */
  #enqueueRegulars(blockHash: Hex): void {
    for (const [key, userCalls] of this.#toReadAhead) {
      if (this.#waiting.length >= membersMax) return
      this.#toReadAhead.delete(key)
      if (this.#members.get(key)?.blockHash !== blockHash) this.#enqueue(key, userCalls, blockHash)
    }
  }

  /** Facts in the order of the group. @throws DomainError when the chain does not answer */
  async #readGroup(group: readonly GroupMember[]): Promise<readonly ReadFacts[]> {
    const { client, multicall3, callTimeoutMs = 500 } = this.#options
    const hash = group[0]?.blockHash
    if (hash === undefined) return []
    const calls = group.flatMap(({ userCalls }) => userCalls.calls)
    const request = { multicall3, calls, block: { hash } }
    const answers = await multicall(client, request, { timeoutMs: callTimeoutMs })
    let start = 0
    return group.map(({ userCalls }) => {
      const end = start + userCalls.calls.length
      const ownAnswers = answers.slice(start, end)
      start = end
      return factsOf(ownAnswers, userCalls.heldCount)
    })
  }
}

function keyOf({ user, currency, spender, touched = [] }: UserFactsQuestion): string {
  let key = `${user} ${currency} ${spender}`
  for (const holding of touched) key += ` ${holding.account} ${holding.currency}`
  return key
}

/** `undefined` for a question that needs no call: its user is nobody, or an address is malformed. */
function callsFor(question: UserFactsQuestion, multicall3: Hex): UserFactsCalls | undefined {
  const user = readAddress(question.user)
  const currency = readAddress(question.currency)
  if (user === undefined || currency === undefined || nobody.has(user)) return undefined
  // Holdings have canonical addresses. A malformed one would be replaced, so that each answer keeps its place.
  const held = (question.touched ?? []).map((holding) =>
    balanceCall(readAddress(holding.currency) ?? currency, readAddress(holding.account) ?? user, multicall3),
  )
  const spender = question.spender === undefined ? undefined : readAddress(question.spender)
  const isAllowed = currency !== zeroAddress && spender !== undefined
  const allowance = isAllowed
    ? [allowanceCall(currency, user, spender), emptyMoveCall(currency, user, spender)]
    : []
  return { calls: [balanceCall(currency, user, multicall3), ...held, ...allowance], heldCount: held.length }
}

function balanceCall(currency: Hex, account: Hex, multicall3: Hex): ContractCall {
  return currency === zeroAddress ? nativeBalanceCall(multicall3, account) : balanceOfCall(currency, account)
}

export function readAddress(text: string): Hex | undefined {
  const lower = text.toLowerCase()
  return addressPattern.test(lower) ? `0x${lower.slice(2)}` : undefined
}

function factsOf([balance, ...others]: readonly ContractAnswer[], heldCount: number): ReadFacts {
  const [allowance, move] = others.slice(heldCount)
  return {
    ...(hasWords(balance, 1) && { balance: readUintResult(balance.returnData, 'balanceOf') }),
    ...(hasWords(allowance, 1) && { allowance: readUintResult(allowance.returnData, 'allowance') }),
    ...(move?.success === false && { isMoveRefused: true }),
    ...(heldCount > 0 && { held: others.slice(0, heldCount).map(heldOf) }),
  }
}

function heldOf(answer: ContractAnswer): bigint | undefined {
  return hasWords(answer, 1) ? readUintResult(answer.returnData, 'balanceOf') : undefined
}

/** The result if it comes within the budget, else `late`. The promise must not reject. */
export function within<Value>(budgetMs: number, coming: Promise<Value>, late: Value): Promise<Value> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, budgetMs, late)
    void coming.then((facts) => {
      clearTimeout(timer)
      resolve(facts)
    })
  })
}

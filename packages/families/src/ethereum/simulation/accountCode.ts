import type { Hex, MaybePromise } from '@causeway/core'
import type { JsonRpcClient, RpcAnswer } from '@causeway/rpc'
import { createLruCache, createQuestionGroups, parseBytes } from '@causeway/rpc'
import { blockParameter } from '../contracts/multicall.ts'
import { nobody, readAddress, within } from './userFacts.ts'

/** Reads for quotes whether accounts of one chain have code. A delegated account (EIP-7702) counts as having code. */
export interface AccountCodeReader {
  /** `undefined` if enough endpoints do not agree in time. Never rejects, and never takes longer than `budgetMs`. */
  hasCode(account: string, options: { readonly budgetMs: number }): MaybePromise<boolean | undefined>
}

export type AccountCodeOptions = {
  readonly client: Pick<JsonRpcClient, 'agree'>
  /** Endpoints that must say the same; default the client's own. */
  readonly threshold?: number
  /** The block at which code is read, and for which answers are cached; `undefined` while none is known. */
  readonly currentHead: () => { readonly hash: Hex } | undefined
  /** Milliseconds that a batch may take, repeated halves included; callers' budgets may end before. Default 500. */
  readonly callTimeoutMs?: number
  readonly onFailure?: (error: unknown) => void
}

const entriesMax = 10_000
const accountsPerCall = 100
/** With so many questions waiting, more are answered `undefined` at once: the chain is slower than its callers. */
const waitingMax = 1_000
const requestName = 'eth_getCode'

type WaitingQuestion = {
  readonly account: Hex
  readonly blockHash: Hex
  readonly key: string
  /** Deadline, set when its group is first sent. If the group is split after a failure, its halves keep it. */
  untilMs?: number
  readonly answer: (hasCode: boolean | undefined) => void
}

/**
 * Asks for many accounts in one batch, and for each account once per block; while a batch is out, further
 * questions gather for the next. A quote may be refused because of an answer, so enough endpoints must agree.
 * If a batch is refused, or endpoints contradict each other about one account, `send` rejects, and
 * `createQuestionGroups` asks halves of the batch again, until a question fails alone or after its deadline:
 * `fail` then answers it `undefined`.
 * @source F-87
 */
export function createAccountCodeReader(options: AccountCodeOptions): AccountCodeReader {
  const { client, threshold, callTimeoutMs = 500, onFailure } = options
  const codeCache = createLruCache<boolean | Promise<boolean | undefined>>(entriesMax)
  const groups = createQuestionGroups<WaitingQuestion>({
    inFlightMax: 1,
    defer: queueMicrotask,
    firstOf,
    send,
    mayAskAgain: ({ untilMs = 0 }) => untilMs > performance.now(),
    fail({ key, answer }) {
      // A failure is not cached, so that the next question is asked anew.
      codeCache.delete(key)
      answer(undefined)
    },
  })

  async function send(group: readonly WaitingQuestion[]): Promise<void> {
    const timeoutMs = startDeadlines(group, callTimeoutMs)
    const codes = await agreeOnCodes(client, group, {
      timeoutMs,
      ...(threshold !== undefined && { threshold }),
    }).catch((error: unknown) => {
      onFailure?.(error)
      throw error
    })
    for (const [index, { key, answer }] of group.entries()) {
      const hasCode = codes[index]
      if (hasCode === undefined) codeCache.delete(key)
      else codeCache.set(key, hasCode)
      answer(hasCode)
    }
  }

  return {
    hasCode(text, { budgetMs }) {
      const blockHash = options.currentHead()?.hash
      const account = readAddress(text)
      if (account === undefined || blockHash === undefined) return undefined
      if (nobody.has(account)) return false
      const key = `${blockHash} ${account}`
      const cached = codeCache.get(key)
      if (cached instanceof Promise) return within(budgetMs, cached, undefined)
      if (cached !== undefined) return cached
      if (groups.waiting() >= waitingMax) return undefined
      const asking = new Promise<boolean | undefined>((answer) => {
        groups.add({ account, blockHash, key, answer })
      })
      codeCache.set(key, asking)
      return within(budgetMs, asking, undefined)
    },
  }
}

/** Sets the deadline of each question that is sent for the first time. @returns milliseconds that the first one has left */
function startDeadlines(group: readonly WaitingQuestion[], callTimeoutMs: number): number {
  const nowMs = performance.now()
  for (const question of group) question.untilMs ??= nowMs + callTimeoutMs
  return Math.max(1, (group[0]?.untilMs ?? nowMs) - nowMs)
}

/** True for each account of a group that has code, as enough endpoints say; undefined for an unreadable answer. @throws what `agree` throws */
async function agreeOnCodes(
  client: AccountCodeOptions['client'],
  group: readonly WaitingQuestion[],
  options: { readonly timeoutMs: number; readonly threshold?: number },
): Promise<readonly (boolean | undefined)[]> {
  const calls = group.map(({ account, blockHash }) => ({
    method: requestName,
    params: [account, blockParameter({ hash: blockHash })],
  }))
  const { answers } = await client.agree(calls, {
    ...options,
    project: (all) => all.map((answer) => hasCodeIn(answer) ?? 'unreadable'),
  })
  return group.map((_, index) => hasCodeIn(answers[index]))
}

/** The first waiting questions about one block, as many as one batch holds. */
function firstOf(waiting: readonly WaitingQuestion[]): readonly WaitingQuestion[] {
  const end = waiting.findIndex(({ blockHash }) => blockHash !== waiting[0]?.blockHash)
  return waiting.slice(0, end === -1 ? accountsPerCall : Math.min(end, accountsPerCall))
}

/** True if the answer has code; `undefined` for a node's own error and malformed data. */
function hasCodeIn(answer: RpcAnswer | undefined): boolean | undefined {
  if (answer?.ok !== true) return undefined
  try {
    return parseBytes(answer.result, requestName).length > 2
  } catch {
    return undefined
  }
}

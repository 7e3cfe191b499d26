import type { Hex } from '@causeway/core'
import type { JsonRpcClient, RpcAnswer } from '@causeway/rpc'
import { createLruCache, createQuestionGroups, parseBytes } from '@causeway/rpc'
import { blockParameter } from '../contracts/multicall.ts'
import { nobody, readAddress, within } from './userFacts.ts'

/** Tells for quotes which accounts of one chain have code; a delegated one (EIP-7702) has, as for oracles. */
export interface AccountCodeReader {
  /**
   * `undefined` where enough endpoints do not say the same in time. Never rejects, and never takes longer than
   * `budgetMs`.
   */
  hasCode(account: string, options: { readonly budgetMs: number }): Promise<boolean | undefined>
}

export type AccountCodeOptions = {
  readonly client: Pick<JsonRpcClient, 'agree'>
  /** Endpoints that must say the same; default the client's own. */
  readonly threshold?: number
  /** The block that code is read at, and remembered for; `undefined` while none is known. */
  readonly currentHead: () => { readonly hash: Hex } | undefined
  /** Milliseconds that a call may continue after its callers' budgets. Default 500. */
  readonly callTimeoutMs?: number
  readonly onFailure?: (error: unknown) => void
}

const entriesMax = 10_000
const accountsPerCall = 100
/** Above this, nothing is known at once: the chain is slower than those who ask. */
const waitingMax = 1_000
const requestName = 'eth_getCode'
const unknown = Promise.resolve(undefined)

type Waiting = {
  readonly account: Hex
  readonly blockHash: Hex
  readonly key: string
  /** The deadline of the call that asks for it, and of its halves; set as it leaves. */
  untilMs?: number
  readonly answer: (hasCode: boolean | undefined) => void
}

/**
 * One batch asks for many accounts, once per account and block: while one is out, further accounts gather. What
 * it says refuses quotes, so endpoints must agree: one that lies refuses nobody. Where a batch is refused, or endpoints
 * contradict each other over one account, its halves are asked.
 * @source F-87
 */
export function createAccountCodeReader(options: AccountCodeOptions): AccountCodeReader {
  const { client, threshold, callTimeoutMs = 500, onFailure } = options
  const codeCache = createLruCache<Promise<boolean | undefined>>(entriesMax)
  const groups = createQuestionGroups<Waiting>({
    ...{ inFlightMax: 1, defer: queueMicrotask, firstOf, send },
    mayAskAgain: ({ untilMs = 0 }) => untilMs > performance.now(),
    fail({ key, answer }) {
      // Leaves no trace, so that the next question is asked anew.
      codeCache.delete(key)
      answer(undefined)
    },
  })

  async function send(group: readonly Waiting[]): Promise<void> {
    const calls = group.map(({ account, blockHash }) => ({
      method: requestName,
      params: [account, blockParameter({ hash: blockHash })],
    }))
    const nowMs = performance.now()
    for (const one of group) one.untilMs ??= nowMs + callTimeoutMs
    const timeoutMs = Math.max(1, (group[0]?.untilMs ?? nowMs) - nowMs)
    const agreeing = { timeoutMs, ...(threshold !== undefined && { threshold }) }
    const { answers } = await client
      .agree(calls, { ...agreeing, project: (all) => all.map((one) => codeOf(one) ?? 'unreadable') })
      .catch((error: unknown) => {
        onFailure?.(error)
        throw error
      })
    for (const [index, { key, answer }] of group.entries()) {
      const hasCode = codeOf(answers[index])
      if (hasCode === undefined) codeCache.delete(key)
      answer(hasCode)
    }
  }

  return {
    hasCode(text, { budgetMs }) {
      const blockHash = options.currentHead()?.hash
      const account = readAddress(text)
      if (account === undefined || blockHash === undefined) return unknown
      if (nobody.has(account)) return Promise.resolve(false)
      const key = `${blockHash} ${account}`
      const cached = codeCache.get(key)
      if (cached !== undefined) return within(budgetMs, cached, undefined)
      if (groups.waiting() >= waitingMax) return unknown
      const asking = new Promise<boolean | undefined>((answer) => {
        groups.add({ account, blockHash, key, answer })
      })
      codeCache.set(key, asking)
      return within(budgetMs, asking, undefined)
    },
  }
}

/** Those of one block, as many as one batch holds. */
function firstOf(waiting: readonly Waiting[]): readonly Waiting[] {
  const end = waiting.findIndex(({ blockHash }) => blockHash !== waiting[0]?.blockHash)
  return waiting.slice(0, end === -1 ? accountsPerCall : Math.min(end, accountsPerCall))
}

/** `undefined` for a node's own error and for what is no code. */
function codeOf(answer: RpcAnswer | undefined): boolean | undefined {
  if (answer?.ok !== true) return undefined
  try {
    return parseBytes(answer.result, requestName).length > 2
  } catch {
    return undefined
  }
}

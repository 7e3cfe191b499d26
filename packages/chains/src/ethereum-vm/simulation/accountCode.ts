import type { Hex } from '@causeway/core'
import type { JsonRpcClient, RpcAnswer } from '../../rpc/jsonRpc.ts'
import { LruCache } from '../../rpc/lruCache.ts'
import { parseBytes } from '../../rpc/quantity.ts'
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
  /** How long a call may go on after its callers' budgets. Default 500. */
  readonly callTimeoutMs?: number
  readonly onFailure?: (error: unknown) => void
}

const entriesMax = 10_000
const accountsPerCall = 100
/** Above this, nothing is known at once: the chain is slower than those who ask. */
const waitingMax = 1_000
const what = 'eth_getCode'
const unknown = Promise.resolve(undefined)

type Waiting = {
  readonly account: Hex
  readonly blockHash: Hex
  readonly key: string
  readonly answer: (hasCode: boolean | undefined) => void
}

/**
 * One batch asks for many accounts, once per account and block: while one is out, further accounts gather. What
 * it says refuses quotes, so endpoints must agree: one that lies refuses nobody.
 * @source design.md 5.4, 7.2
 */
export function createAccountCodeReader(options: AccountCodeOptions): AccountCodeReader {
  const known = new LruCache<Promise<boolean | undefined>>(entriesMax)
  let waiting: Waiting[] = []
  let isBusy = false

  async function askAll(): Promise<void> {
    if (isBusy) return
    isBusy = true
    // Accounts of the same moment leave in the first call already.
    await Promise.resolve()
    while (waiting.length > 0) {
      const blockHash = waiting[0]?.blockHash
      const group = waiting.filter((one) => one.blockHash === blockHash).slice(0, accountsPerCall)
      waiting = waiting.filter((one) => !group.includes(one))
      await ask(group).catch((error: unknown) => {
        // Leaves no trace, so that the next question is asked anew.
        for (const { key, answer } of group) {
          known.delete(key)
          answer(undefined)
        }
        options.onFailure?.(error)
      })
    }
    isBusy = false
  }

  async function ask(group: readonly Waiting[]): Promise<void> {
    const { client, threshold, callTimeoutMs: timeoutMs = 500 } = options
    const calls = group.map(({ account, blockHash }) => ({
      method: what,
      params: [account, blockParameter({ hash: blockHash })],
    }))
    const agreeing = { timeoutMs, ...(threshold !== undefined && { threshold }) }
    const { answers } = await client.agree(calls, {
      ...agreeing,
      project: (all) => all.map((one) => codeOf(one) ?? 'unreadable'),
    })
    for (const [index, { key, answer }] of group.entries()) {
      const hasCode = codeOf(answers[index])
      if (hasCode === undefined) known.delete(key)
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
      const asked = known.get(key)
      if (asked !== undefined) return within(budgetMs, asked, undefined)
      if (waiting.length >= waitingMax) return unknown
      const asking = new Promise<boolean | undefined>((answer) => {
        waiting.push({ account, blockHash, key, answer })
      })
      known.set(key, asking)
      void askAll()
      return within(budgetMs, asking, undefined)
    },
  }
}

/** `undefined` for a node's own error and for what is no code. */
function codeOf(answer: RpcAnswer | undefined): boolean | undefined {
  if (answer?.ok !== true) return undefined
  try {
    return parseBytes(answer.result, what).length > 2
  } catch {
    return undefined
  }
}

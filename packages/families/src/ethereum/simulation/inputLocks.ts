import type { Hex } from '@causeway/core'
import type { JsonRpcClient } from '@causeway/rpc'
import type { InputLock } from '../../rules/inputLock.ts'
import type { UserFactsQuestion } from '../../shared/quotingChain.ts'
import { createRecent, recentMs } from '../../shared/recent.ts'
import { readUintResult } from '../contracts/abiReader.ts'
import { balanceOfCall, emptyMoveCall } from '../contracts/erc20Calls.ts'
import { decodeAggregate3, multicallRequest } from '../contracts/multicall.ts'
import { readAddress } from './userFacts.ts'

export type InputLockOptions = {
  readonly client: Pick<JsonRpcClient, 'agree'>
  readonly multicall3: Hex
  readonly currentHead: () => { readonly hash: Hex } | undefined
  readonly timeoutMs: number
  /** Milliseconds. */
  readonly now: () => number
  readonly onFailure: (error: unknown) => void
}

/** An account that no token has blocked. A token that refuses its empty transfers as well refuses everybody's. */
const controlAccount: Hex = `0x${'c0'.repeat(20)}`
const refusedByToken: InputLock = { why: 'holds a token that lets him pay nothing', isForCalls: false }

/**
 * Finds out whether a token blocks a holder: it refuses a transfer of 0 from him, but not from another account. Asks by
 * agreement of endpoints.
 * @returns a function that never rejects; undefined if he is not blocked, or enough endpoints do not agree in time
 * @source F-99
 */
export function createInputLocks({ client, multicall3, currentHead, ...options }: InputLockOptions) {
  const { timeoutMs, now, onFailure } = options
  // `none` is remembered like a lock; `undefined`, a failure, is asked again.
  const recent = createRecent<InputLock | 'none'>(now, { forMs: () => recentMs.steady })

  async function findLock(lockQuestion: Readonly<Record<'user' | 'currency' | 'spender' | 'hash', Hex>>) {
    const { user, currency, spender, hash } = lockQuestion
    const calls = [
      balanceOfCall(currency, user),
      ...[user, controlAccount].map((from) => emptyMoveCall(currency, from, spender)),
    ]
    try {
      const request = multicallRequest({ multicall3, calls, block: { hash } })
      const [answer] = (await client.agree([request], { timeoutMs })).answers
      if (answer?.ok !== true) return undefined
      const [balance, userMove, controlMove] = decodeAggregate3(answer.result, calls.length)
      const isHolder = balance?.success === true && readUintResult(balance.returnData, 'balanceOf') > 0n
      return isHolder && userMove?.success === false && controlMove?.success === true
        ? refusedByToken
        : 'none'
    } catch (error) {
      onFailure(error)
      return undefined
    }
  }

  return async (question: UserFactsQuestion): Promise<InputLock | undefined> => {
    const [user, currency] = [readAddress(question.user), readAddress(question.currency)]
    const spender = question.spender === undefined ? undefined : readAddress(question.spender)
    const hash = currentHead()?.hash
    if (user === undefined || currency === undefined || spender === undefined || hash === undefined)
      return undefined
    const lock = await recent(`${user} ${currency} ${spender}`, () =>
      findLock({ user, currency, spender, hash }),
    )
    return lock === 'none' ? undefined : lock
  }
}

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

/** An account that no token lists: what is not moved of it either, the token moves of nobody that way. */
const control: Hex = `0x${'c0'.repeat(20)}`
const refusedByToken: InputLock = { why: 'holds a token that lets him pay nothing', isForCalls: false }

/**
 * Asks enough endpoints whether a token moves nothing of a holder who has some of it, and would of others.
 * @returns never rejects; undefined where it moves, and where enough endpoints do not say the same in time
 * @source F-99
 */
export function createInputLocks({ client, multicall3, currentHead, ...options }: InputLockOptions) {
  const { timeoutMs, now, onFailure } = options
  const recent = createRecent<InputLock | 'none'>(now, { forMs: recentMs.steady })

  async function find(lockQuestion: Readonly<Record<'user' | 'currency' | 'spender' | 'hash', Hex>>) {
    const { user, currency, spender, hash } = lockQuestion
    const calls = [
      balanceOfCall(currency, user),
      ...[user, control].map((from) => emptyMoveCall(currency, from, spender)),
    ]
    try {
      const request = multicallRequest({ multicall3, calls, block: { hash } })
      const [answer] = (await client.agree([request], { timeoutMs })).answers
      if (answer?.ok !== true) return undefined
      const [balance, own, other] = decodeAggregate3(answer.result, calls.length)
      const isHolder = balance?.success === true && readUintResult(balance.returnData, 'balanceOf') > 0n
      return isHolder && own?.success === false && other?.success === true ? refusedByToken : 'none'
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
    const lock = await recent(`${user} ${currency} ${spender}`, () => find({ user, currency, spender, hash }))
    return lock === 'none' ? undefined : lock
  }
}

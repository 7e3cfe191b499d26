import { AbiWords } from '../hashing/abiWords.ts'
import { bytesToHex, fixedHexToBytes } from '../hashing/hexBytes.ts'
import type { Hex } from '../hex.ts'

/**
 * Actions by which an execution moves balances on the hub, ABI-encoded with the type as first word. Addresses are
 * accounts on the hub; amounts are in the currency's smallest unit. All throw RangeError on a value that does not fit.
 * @source github.com/relayprotocol/relay-settlement, packages/sdk/src/messages/v2.2/execution.ts
 */
const actionTypes = { mint: 0, burn: 1, transfer: 2 } as const

export function encodeMintAction(action: { hubTo: Hex; hubTokenId: bigint; amount: bigint }): Hex {
  return encodeAction(actionTypes.mint, [action.hubTo], action)
}

export function encodeBurnAction(action: { hubFrom: Hex; hubTokenId: bigint; amount: bigint }): Hex {
  return encodeAction(actionTypes.burn, [action.hubFrom], action)
}

export function encodeTransferAction(action: {
  hubFrom: Hex
  hubTo: Hex
  hubTokenId: bigint
  amount: bigint
}): Hex {
  return encodeAction(actionTypes.transfer, [action.hubFrom, action.hubTo], action)
}

/** A decoded action: a mint has no `hubFrom`, a burn no `hubTo`. */
export type ReadAction = {
  readonly hubFrom?: Hex
  readonly hubTo?: Hex
  readonly hubTokenId: bigint
  readonly amount: bigint
}

/** Accounts that follow the type, by the last digit of the type's word; see `actionTypes`. */
const accountNamesOf: ReadonlyMap<string, readonly ('hubFrom' | 'hubTo')[]> = new Map([
  ['0', ['hubTo']],
  ['1', ['hubFrom']],
  ['2', ['hubFrom', 'hubTo']],
])
const wordDigits = 64
const accountPadding = '0'.repeat(24)

/**
 * Decodes an action. An oracle's caps count the value of the actions that it signs.
 * @throws RangeError for any other encoding: an unreadable action must not count as one that moves no value
 */
export function readAction(action: Hex): ReadAction {
  const words = action.slice(2).match(/.{64}/g) ?? []
  const [type = '', ...members] = words
  const accountNames = /^0{63}[0-9]$/.test(type) ? accountNamesOf.get(type.slice(-1)) : undefined
  const isWholeWords = action.length === 2 + words.length * wordDigits
  // Behind the accounts stand the token id and the amount.
  const wordCount = accountNames === undefined ? 0 : 1 + accountNames.length + 2
  if (accountNames === undefined || !isWholeWords || words.length !== wordCount) throw unreadable()
  const accountEntries = accountNames.map((name, index) => [name, accountIn(members[index] ?? '')] as const)
  const [hubTokenId, amount] = members.slice(accountNames.length).map((word) => BigInt(`0x${word}`))
  if (hubTokenId === undefined || amount === undefined) throw unreadable()
  return { ...Object.fromEntries(accountEntries), hubTokenId, amount }
}

function accountIn(word: string): Hex {
  if (!word.startsWith(accountPadding)) throw unreadable()
  return `0x${word.slice(accountPadding.length).toLowerCase()}`
}

function unreadable(): RangeError {
  return new RangeError('an action is a mint, a burn or a transfer')
}

function encodeAction(
  type: number,
  accounts: readonly Hex[],
  { hubTokenId, amount }: { hubTokenId: bigint; amount: bigint },
): Hex {
  const words = new AbiWords(3 + accounts.length).number(type)
  for (const account of accounts) words.address(fixedHexToBytes(account, 20))
  return bytesToHex(words.uint(hubTokenId).uint(amount).done())
}

import type { Hex } from '@causeway/core'
import { unlessUnreadable } from '@causeway/rpc'
import type { ChainFinding, ContractGetter } from '../../shared/chainFinding.ts'
import { contractInterface } from '../rules/contractInterface.ts'
import { readStringResult, readUintResult } from './abiReader.ts'
import { decimalsCall, descriptionCall } from './erc20Calls.ts'
import type { ContractAnswer, ContractCall } from './multicall.ts'

/** A setting of the configuration that names a contract. */
export type ContractSetting = { readonly setting: string; readonly address: Hex }

/** Configured values that getters of contracts must return. */
export type ExpectedReads = {
  /** Price feeds: `description()` and `decimals()`. */
  readonly feeds: readonly (ContractSetting & { readonly description: string; readonly decimals: number })[]
  /** Tokens: `decimals()`. The native currency is not among them. */
  readonly tokens: readonly (ContractSetting & { readonly decimals: number })[]
  /** Constructor arguments and constants of a contract, each one word, by the getter that returns it. */
  readonly words: readonly (ContractSetting & {
    readonly getter: 'depository' | 'depositRouter' | 'DEPOSIT_CODE_HASH' | 'SWEEP_CODE_HASH'
    /** An address or 32 bytes, lower case. */
    readonly word: Hex
  })[]
  /** Symbols of tokens and data of pools. Starts leave them out; the check of a whole configuration has them. */
  readonly values?: readonly (ContractSetting & ExpectedValue)[]
}

/** A configured value and the getter that must return it. Words that are addresses are in lower case. */
export type ExpectedValue =
  | { readonly getter: 'symbol'; readonly text: string }
  | { readonly getter: 'token0' | 'token1' | 'factory'; readonly word: Hex }
  | { readonly getter: 'fee' | 'tickSpacing'; readonly number: number }

/** A call of the multicall, and the comparison of its answer with the configuration. */
export type CheckedRead = {
  readonly call: ContractCall
  readonly check: (answer: ContractAnswer | undefined) => readonly ChainFinding[]
}

/** The reads by which contracts confirm the configured values. */
export function readsOf({ feeds, tokens, words, values = [] }: ExpectedReads): readonly CheckedRead[] {
  return [
    ...feeds.map(descriptionRead),
    ...feeds.map(decimalsRead),
    ...tokens.map(decimalsRead),
    ...words.map(wordRead),
    ...values.map(valueRead),
  ]
}

function descriptionRead(feed: ExpectedReads['feeds'][number]): CheckedRead {
  const call = descriptionCall(feed.address)
  return checkedRead({ subject: feed, kind: 'description', call, value: feed.description, decode: readText })
}

function decimalsRead(subject: ContractSetting & { readonly decimals: number }): CheckedRead {
  const call = decimalsCall(subject.address)
  return checkedRead({ subject, kind: 'decimals', call, value: String(subject.decimals), decode: readNumber })
}

function wordRead(subject: ContractSetting & { readonly getter: Getter; readonly word: Hex }): CheckedRead {
  const { getter, word } = subject
  const decode = (answer: ContractAnswer | undefined) => {
    const digits = readUint(answer)?.toString(16)
    // Shown at the configured word's length, so that an address loses the zeros that pad it.
    return digits === undefined ? undefined : `0x${digits.padStart(word.length - 2, '0')}`
  }
  return checkedRead({ subject, kind: getter, call: getterCall(subject, getter), value: word, decode })
}

function valueRead(subject: ContractSetting & ExpectedValue): CheckedRead {
  if ('word' in subject) return wordRead(subject)
  const { getter: kind } = subject
  const call = getterCall(subject, kind)
  return 'text' in subject
    ? checkedRead({ subject, kind, call, value: subject.text, decode: readText })
    : checkedRead({ subject, kind, call, value: String(subject.number), decode: readNumber })
}

const getters = contractInterface([
  'function depository() view returns (address)',
  'function depositRouter() view returns (address)',
  'function DEPOSIT_CODE_HASH() view returns (bytes32)',
  'function SWEEP_CODE_HASH() view returns (bytes32)',
  'function symbol() view returns (string)',
  'function token0() view returns (address)',
  'function token1() view returns (address)',
  'function factory() view returns (address)',
  'function fee() view returns (uint24)',
  'function tickSpacing() view returns (int24)',
])

/** Getters that are called here by name; the others have call builders of their own, or belong to another family. */
type Getter = Exclude<ContractGetter, 'description' | 'decimals' | 'tokenProgram'>

function getterCall({ address: target }: ContractSetting, getter: Getter): ContractCall {
  return { target, callData: getters.encode(getter, []) }
}

/** Compares a getter's answer with the configured value; both are texts, so that findings can show them. */
function checkedRead(args: {
  readonly subject: ContractSetting
  readonly kind: ContractGetter
  readonly call: ContractCall
  readonly value: string
  readonly decode: (answer: ContractAnswer | undefined) => string | undefined
}): CheckedRead {
  const { subject, kind, call, value, decode } = args
  const { setting } = subject
  return {
    call,
    check(answer) {
      const shown = decode(answer)
      if (shown === value) return []
      const problem = `${setting}: ${kind}() is not the configured one`
      return [{ kind, setting, value, said: shown ?? `no answer to ${kind}()`, problem }]
    },
  }
}

/** Names the read in errors, which `readOr` swallows. */
const errorSubject = 'a getter'

function readNumber(answer: ContractAnswer | undefined): string | undefined {
  return readUint(answer)?.toString()
}

function readUint(answer: ContractAnswer | undefined): bigint | undefined {
  return readOr(answer, (data) => readUintResult(data, errorSubject))
}

function readText(answer: ContractAnswer | undefined): string | undefined {
  return readOr(answer, (data) => readStringResult(data, errorSubject))
}

/** `undefined` for a revert or for data that does not fit: the address is wrong then, not the node. */
function readOr<Value>(answer: ContractAnswer | undefined, read: (data: Hex) => Value): Value | undefined {
  return answer?.success === true ? unlessUnreadable(() => read(answer.returnData)) : undefined
}

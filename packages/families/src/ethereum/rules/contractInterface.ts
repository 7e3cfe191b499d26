import type { Hex } from '@causeway/core'
import { viemLibrary } from '@causeway/core'
import type * as Viem from 'viem'
import { readWords, type WordType, wordTypeOf, writeWords } from './abiWordTypes.ts'

type Arguments<abi extends Viem.Abi, name extends Viem.ContractFunctionName<abi>> = Viem.ContractFunctionArgs<
  abi,
  Viem.AbiStateMutability,
  name
>

type Returned<
  abi extends Viem.Abi,
  name extends Viem.ContractFunctionName<abi>,
> = Viem.ContractFunctionReturnType<abi, Viem.AbiStateMutability, name>

/**
 * Encodes calls of a contract's functions and decodes their results, as viem does. Functions with single-word types
 * alone, of which quotes call hundreds, are encoded by our own faster code: decision 19.
 */
export type ContractInterface<abi extends Viem.Abi> = {
  /** Calldata, lower case. Texts among the arguments are hex. @throws RangeError for what does not fit its type */
  encode<name extends Viem.ContractFunctionName<abi>>(name: name, args: Arguments<abi, name>): Hex
  /** The returned value or values. @throws RangeError if the data does not begin with values of the returned types */
  decode<name extends Viem.ContractFunctionName<abi>>(name: name, data: Hex): Returned<abi, name>
}

/** A function whose signature has been parsed and its selector hashed. */
type Prepared = {
  readonly selector: Hex
  readonly abi: Viem.Abi
  /** Types of arguments and results. */
  readonly words: { readonly taken: WordTypes; readonly returned: WordTypes }
}
/** Undefined if one of the types takes more than a word: then viem is used. */
type WordTypes = readonly WordType[] | undefined

/**
 * @param signatures Solidity, as `parseAbi` takes them, without overloads. A function is parsed and its selector hashed
 * on first use, and kept, since that is most of the cost of a call.
 */
export function contractInterface<const signatures extends readonly string[]>(
  signatures: signatures,
): ContractInterface<Viem.ParseAbi<signatures>> {
  const prepared = new Map<string, Prepared>()
  const prepare = (name: string): Prepared => {
    const cached = prepared.get(name)
    if (cached !== undefined) return cached
    const { parseAbi, prepareEncodeFunctionData } = viemLibrary()
    const { abi, functionName } = prepareEncodeFunctionData({
      abi: withGeneralTypes(parseAbi)(signatures),
      functionName: name,
    })
    // viem has put the selector in the place of the name, and left this one function in the ABI.
    const preparedFunction = { selector: functionName, abi, words: wordsOf(abi) }
    prepared.set(name, preparedFunction)
    return preparedFunction
  }
  const functions = {
    encode(name: string, args: readonly unknown[]): Hex {
      const { selector, abi, words } = prepare(name)
      if (words.taken !== undefined) return `${selector}${writeWords(words.taken, args)}`
      const { encodeFunctionData } = viemLibrary()
      return asRangeError(name, () =>
        encodeFunctionData({ abi, functionName: selector, args: hexArguments(args) }),
      )
    },
    decode(name: string, data: Hex): unknown {
      const { abi, words } = prepare(name)
      if (words.returned !== undefined) {
        const values = readWords(words.returned, data)
        return values.length === 1 ? values[0] : values
      }
      const { decodeFunctionResult } = viemLibrary()
      return asRangeError(name, () => decodeFunctionResult({ abi, functionName: name, data }))
    },
  }
  // CAST: the same functions, whose types TypeScript reads from the signatures.
  return functions as unknown as ContractInterface<Viem.ParseAbi<signatures>>
}

function wordsOf(abi: Viem.Abi): Prepared['words'] {
  const [abiFunction] = abi
  if (abiFunction?.type !== 'function') return { taken: undefined, returned: undefined }
  // A function without outputs is left to viem.
  const isRead = abiFunction.outputs.length > 0
  return {
    taken: wordTypes(abiFunction.inputs),
    returned: isRead ? wordTypes(abiFunction.outputs) : undefined,
  }
}

function wordTypes(parameters: readonly Viem.AbiParameter[]): WordTypes {
  const types = parameters.map(({ type }) => wordTypeOf(type))
  const knownTypes = types.filter((type) => type !== undefined)
  return knownTypes.length === types.length ? knownTypes : undefined
}

/** `parseAbi` without types inferred from the signatures: these are inferred where a contract is declared. */
function withGeneralTypes(parse: typeof Viem.parseAbi): (signatures: readonly string[]) => Viem.Abi {
  // CAST: the most general of its types; viem refuses what it cannot parse.
  return parse as (signatures: readonly string[]) => Viem.Abi
}

function asRangeError<Value>(name: string, use: () => Value): Value {
  try {
    return use()
  } catch (error) {
    if (!(error instanceof viemLibrary().BaseError)) throw error
    throw new RangeError(`${name}: ${error.shortMessage}`, { cause: error })
  }
}

const hexPattern = /^0x(?:[0-9a-fA-F]{2})*$/

/** Checks hex digits of `bytes`, which viem does not; lower case spares viem the checksum of addresses. */
function hexArguments(args: readonly unknown[]): readonly unknown[] {
  return args.map(hexArgument)
}

function hexArgument(value: unknown): unknown {
  if (typeof value === 'string') {
    if (!hexPattern.test(value)) throw new RangeError('an argument must be 0x and whole bytes of hex')
    return value.toLowerCase()
  }
  if (Array.isArray(value)) return value.map(hexArgument)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, hexArgument(member)]))
}

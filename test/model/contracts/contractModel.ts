// Second implementation of the network's contracts: methods by their signature, over calldata and events of the real
// encoding, so that a driver cannot distinguish a model from a node.
import { bytesToHex, type Hex } from '@causeway/core'
import {
  type AbiParameter,
  type AbiParameterToPrimitiveType,
  decodeAbiParameters,
  encodeAbiParameters,
  type ParseAbiItem,
  parseAbiItem,
  toEventSelector,
  toFunctionSelector,
} from 'viem'
import type { VersionedState } from '../chain/versionedState.ts'
import { hashOf, textHash } from '../hash.ts'

/** A call that fails, with the name of the contract's error. */
export class Revert extends Error {
  readonly errorName: string

  constructor(errorName: string) {
    super(errorName)
    this.errorName = errorName
  }
}

/** One call of a contract, and what it may do. */
export type Frame = {
  readonly self: Hex
  readonly caller: Hex
  readonly value: bigint
  /** Storage of the called contract: keys are its own. */
  readonly state: ContractState
  readonly chainId: number
  readonly timestamp: bigint
  emit(log: { readonly topics: readonly Hex[]; readonly data: Hex }): void
  /** Calls another account. @throws Revert when that fails; what it did is undone */
  call(to: Hex, data: Hex, value?: bigint): Hex
  hasCode(account: Hex): boolean
}

export class ContractState {
  readonly #state: VersionedState
  readonly #prefix: string
  readonly #height: number | undefined

  constructor(state: VersionedState, self: Hex, height?: number) {
    this.#state = state
    this.#prefix = `${self}.`
    this.#height = height
  }

  number(key: string): bigint {
    return this.#state.number(this.#prefix + key, this.#height)
  }

  bytes(key: string): Hex {
    return this.#state.bytes(this.#prefix + key, this.#height)
  }

  set(key: string, value: bigint | Hex): void {
    this.#state.set(this.#prefix + key, value)
  }
}

export type Method = {
  readonly selector: Hex | 'receive' | 'fallback'
  run(frame: Frame, encodedArguments: Hex): Hex
}

/** Methods by their four bytes; `receive` and `fallback` under names of their own. */
export type ContractModel = ReadonlyMap<string, Method>

/** The method that runs where coin comes without calldata. */
export const receive = (run: (frame: Frame) => void): Method => onlyRun('receive', run)
/** The method that runs where calldata names none. */
export const fallback = (run: (frame: Frame) => void): Method => onlyRun('fallback', run)

/** A contract without either. */
export const takesNoCoin = receive(() => {
  throw new Revert('no data')
})

function onlyRun(name: 'receive' | 'fallback', run: (frame: Frame) => void): Method {
  return {
    selector: name,
    run(frame) {
      run(frame)
      return '0x'
    },
  }
}

export function contractOf(methods: readonly Method[]): ContractModel {
  return new Map(methods.map((method) => [method.selector, method]))
}

type FunctionOf<Signature extends string> =
  ParseAbiItem<Signature> extends infer Item extends {
    readonly type: 'function'
    readonly inputs: readonly AbiParameter[]
    readonly outputs: readonly AbiParameter[]
  }
    ? Item
    : never

type Values<Parameters extends readonly AbiParameter[]> = {
  readonly [Index in keyof Parameters]: AbiParameterToPrimitiveType<Parameters[Index]>
}
type Arguments<Signature extends string> = Values<FunctionOf<Signature>['inputs']>
type Returned<Signature extends string> = Values<FunctionOf<Signature>['outputs']>

/** @param signature human-readable, e.g. `function transfer(address to, uint256 amount) returns (bool)` */
export function method<const Signature extends string>(
  signature: Signature,
  run: (frame: Frame, given: Arguments<Signature>) => Returned<Signature>,
): Method {
  const { selector, inputs, outputs } = functionOf(signature)
  return {
    selector,
    run(frame, encoded) {
      // CAST: decoded by the very signature that types the arguments.
      const given = decodeLower(inputs, encoded) as Arguments<Signature>
      // CAST: returned values are those of the same signature.
      return encodeAbiParameters(outputs, run(frame, given) as readonly unknown[])
    },
  }
}

function functionOf(signature: string): {
  readonly selector: Hex
  readonly inputs: readonly AbiParameter[]
  readonly outputs: readonly AbiParameter[]
} {
  const item: unknown = parseAbiItem(signature as never)
  // CAST: every signature in this folder is that of a function; another one would have no selector here.
  const { inputs, outputs } = item as ReturnType<typeof functionOf>
  return { selector: toFunctionSelector(item as never), inputs, outputs }
}

/** Addresses in lower case, as all texts of the model are. */
function decodeLower(parameters: readonly AbiParameter[], encoded: Hex): readonly unknown[] {
  if (parameters.length === 0) return []
  try {
    return decodeAbiParameters(parameters, encoded).map((value, index) => lower(value, parameters[index]))
  } catch {
    throw new Revert('no data')
  }
}

function lower(value: unknown, parameter: AbiParameter | undefined): unknown {
  if (parameter?.type === 'address' && typeof value === 'string') return value.toLowerCase()
  if (Array.isArray(value)) {
    const element = parameter && { ...parameter, type: parameter.type.slice(0, -2) }
    return value.map((one) => lower(one, element))
  }
  if (typeof value !== 'object' || value === null) return value
  const components = parameter !== undefined && 'components' in parameter ? parameter.components : []
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      lower(
        one,
        components.find((component) => component.name === name),
      ),
    ]),
  )
}

/** @param signature human-readable. @returns what encodes values, in the event's order, into a log */
export function event(
  signature: string,
): (...values: readonly unknown[]) => { readonly topics: readonly Hex[]; readonly data: Hex } {
  const item: unknown = parseAbiItem(signature as never)
  // CAST: every signature handed in is that of an event.
  const { inputs } = item as { readonly inputs: readonly (AbiParameter & { readonly indexed?: boolean })[] }
  const topic = toEventSelector(item as never)
  const plain = inputs.filter(({ indexed }) => indexed !== true)
  return (...values) => ({
    topics: [
      topic,
      ...inputs.flatMap((input, index) =>
        input.indexed === true ? [encodeAbiParameters([input], [values[index]])] : [],
      ),
    ],
    data: encodeAbiParameters(
      plain,
      plain.map((input) => values[inputs.indexOf(input)]),
    ),
  })
}

/** Encodes the calldata that `method` decodes, for callers of models and of nodes alike. */
export function callData<const Signature extends string>(
  signature: Signature,
): (...given: Arguments<Signature> extends readonly unknown[] ? Arguments<Signature> : never) => Hex {
  const { selector, inputs } = functionOf(signature)
  return (...given) => `${selector}${encodeAbiParameters(inputs, given).slice(2)}`
}

export const toHex = bytesToHex

/** EIP-712 of a contract that verifies for itself. */
export function typedDigest(
  { chainId, self }: Pick<Frame, 'chainId' | 'self'>,
  [name, version]: readonly [string, string],
  structHash: Hex,
): Hex {
  const separator = hashOf(
    encodeAbiParameters(
      [
        { type: 'bytes32' },
        { type: 'bytes32' },
        { type: 'bytes32' },
        { type: 'uint256' },
        { type: 'address' },
      ],
      [domainType, textHash(name), textHash(version), BigInt(chainId), self],
    ),
  )
  return hashOf(`0x1901${separator.slice(2)}${structHash.slice(2)}`)
}

const domainType = textHash(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
)

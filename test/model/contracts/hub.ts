// Hub.sol, HubOracle.sol and OracleMultisig.sol: claims on deposited money, moved by what enough oracles signed.
import { type Hex, hexToBytes } from '@causeway/core'
import { signingDigest } from '@causeway/families/rules'
import { recoverSigner } from '@causeway/signer'
import { decodeAbiParameters, parseAbiParameters } from 'viem'
import {
  type ContractModel,
  callData,
  contractOf,
  event,
  type Frame,
  method,
  Revert,
  toHex,
} from './contractModel.ts'
import { isSignedBy } from './signatures.ts'

const moved = event(
  'event Transfer(address caller, address indexed sender, address indexed receiver, uint256 indexed id, uint256 amount)',
)
const executed = event('event Executed(bytes32 indexed idempotencyKey, bytes[] actions)')
const zeroAddress: Hex = `0x${'0'.repeat(40)}`

const operators = ({ state, caller }: Frame) => {
  if (state.bytes('operator') !== caller) throw new Revert('NotOperator')
}

function debit({ state }: Frame, holder: Hex, id: bigint, amount: bigint): void {
  const key = `balance ${holder} ${id}`
  if (state.number(key) < amount) throw new Revert('InsufficientBalance')
  state.set(key, state.number(key) - amount)
}

function credit({ state }: Frame, key: string, amount: bigint): void {
  state.set(key, state.number(key) + amount)
}

export const hubModel: ContractModel = contractOf([
  method('function balanceOf(address holder, uint256 id) returns (uint256)', ({ state }, [holder, id]) => [
    state.number(`balance ${holder} ${id}`),
  ]),
  method('function totalSupply(uint256 id) returns (uint256)', ({ state }, [id]) => [
    state.number(`supply ${id}`),
  ]),
  method('function mint(address receiver, uint256 id, uint256 amount)', (frame, [receiver, id, amount]) => {
    operators(frame)
    credit(frame, `supply ${id}`, amount)
    credit(frame, `balance ${receiver} ${id}`, amount)
    frame.emit(moved(frame.caller, zeroAddress, receiver, id, amount))
    return []
  }),
  method('function burn(address sender, uint256 id, uint256 amount)', (frame, [sender, id, amount]) => {
    operators(frame)
    debit(frame, sender, id, amount)
    credit(frame, `supply ${id}`, -amount)
    frame.emit(moved(frame.caller, sender, zeroAddress, id, amount))
    return []
  }),
  method(
    'function transferFrom(address sender, address receiver, uint256 id, uint256 amount) returns (bool)',
    (frame, [sender, receiver, id, amount]) => {
      operators(frame)
      debit(frame, sender, id, amount)
      credit(frame, `balance ${receiver} ${id}`, amount)
      frame.emit(moved(frame.caller, sender, receiver, id, amount))
      return [true]
    },
  ),
])

const mint = callData('function mint(address receiver, uint256 id, uint256 amount)')
const burn = callData('function burn(address sender, uint256 id, uint256 amount)')
const transferFrom = callData(
  'function transferFrom(address sender, address receiver, uint256 id, uint256 amount)',
)
const threeWords = parseAbiParameters('uint256, address, uint256, uint256')
const fourWords = parseAbiParameters('uint256, address, address, uint256, uint256')

function apply(frame: Frame, action: Hex): void {
  const hub = frame.state.bytes('hub')
  const kind = BigInt(action.slice(0, 66))
  if (kind > 2n) throw new Revert('InvalidActionType')
  if (kind === 2n) {
    const [, from, to, id, amount] = decodeAbiParameters(fourWords, action)
    frame.call(hub, transferFrom(from, to, id, amount))
    return
  }
  const [, account, id, amount] = decodeAbiParameters(threeWords, action)
  frame.call(hub, kind === 0n ? mint(account, id, amount) : burn(account, id, amount))
}

export const hubOracleModel: ContractModel = contractOf([
  method('function HUB() returns (address)', ({ state }) => [state.bytes('hub')]),
  method('function isExecuted(bytes32 idempotencyKey) returns (bool)', ({ state }, [key]) => [
    state.number(`executed ${key}`) > 0n,
  ]),
  method(
    'function execute((bytes32 idempotencyKey, bytes[] actions) execution, address oracle, bytes signature)',
    (frame, [execution, oracle, signature]) => {
      if (frame.state.bytes('oracle') !== oracle) throw new Revert('UnauthorizedOracle')
      const key = `executed ${execution.idempotencyKey}`
      if (frame.state.number(key) > 0n) throw new Revert('AlreadyExecuted')
      const domain = { chainId: frame.chainId, verifyingContract: frame.self, version: '2' }
      const digest = toHex(signingDigest({ purpose: 'execution', domain, execution }))
      if (!isSignedBy(frame, oracle, digest, signature)) throw new Revert('InvalidSignature')
      frame.state.set(key, 1n)
      for (const action of execution.actions) apply(frame, action)
      frame.emit(executed(execution.idempotencyKey, execution.actions))
      return []
    },
  ),
])

const signatureDigits = 130

export const multisigModel: ContractModel = contractOf([
  method(
    'function isValidSignature(bytes32 digest, bytes signature) returns (bytes4)',
    ({ state }, [digest, signature]) => {
      const threshold = Number(state.number('threshold'))
      const digits = signature.slice(2)
      const isWhole = threshold > 0 && digits.length % signatureDigits === 0
      const isEnough = digits.length >= threshold * signatureDigits
      const refused = ['0xffffffff'] as const
      if (!isWhole || !isEnough) return refused
      let previous = zeroAddress
      for (let at = 0; at < threshold; at += 1) {
        const one: Hex = `0x${digits.slice(at * signatureDigits, (at + 1) * signatureDigits)}`
        const signer = recoverSigner(hexToBytes(digest), one) ?? zeroAddress
        if (signer <= previous || state.number(`signer ${signer}`) === 0n) return refused
        previous = signer
      }
      return ['0x1626ba7e'] as const
    },
  ),
])

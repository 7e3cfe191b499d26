// Token.sol: ERC-20 with EIP-3009 authorizations; and two tokens of the model's own, which one may list and regret.
import type { Hex } from '@causeway/core'
import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { hashOf, textHash } from '../hash.ts'
import {
  type ContractModel,
  contractOf,
  event,
  type Frame,
  method,
  Revert,
  typedDigest,
} from './contractModel.ts'
import { isSignedBy } from './signatures.ts'

const transferred = event('event Transfer(address indexed from, address indexed to, uint256 value)')
const approved = event('event Approval(address indexed owner, address indexed spender, uint256 value)')
const used = event('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)')

const authorizationType = textHash(
  'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
)
const authorizationWords = parseAbiParameters('bytes32, address, address, uint256, uint256, uint256, bytes32')
const zeroAddress: Hex = `0x${'0'.repeat(40)}`
const unlimited = 2n ** 256n - 1n

/** Authorization that lets anyone move the owner's tokens, once signed. */
export type Authorization = {
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
  readonly validBefore: bigint
  readonly nonce: Hex
}

export function authorizationDigest(
  token: { readonly chainId: number; readonly self: Hex; readonly name: string; readonly version: string },
  { from, to, value, validBefore, nonce }: Authorization,
): Hex {
  const words = [authorizationType, from, to, value, 0n, validBefore, nonce] as const
  return typedDigest(
    token,
    [token.name, token.version],
    hashOf(encodeAbiParameters(authorizationWords, words)),
  )
}

/** `asks_sender`: runs what its holder armed before it moves (ERC-777). `takes_fee`: once its owner says so. */
export type TokenHabit = 'plain' | 'asks_sender' | 'takes_fee'

export function tokenModel({ name, version }: Named, habit: TokenHabit = 'plain'): ContractModel {
  const shift = (frame: Frame, from: Hex, to: Hex, amount: bigint) => {
    const held = frame.state.number(`balance ${from}`)
    if (held < amount) throw new Revert('InsufficientBalance')
    frame.state.set(`balance ${from}`, held - amount)
    frame.state.set(`balance ${to}`, frame.state.number(`balance ${to}`) + amount)
    frame.emit(transferred(from, to, amount))
  }
  const move = (frame: Frame, from: Hex, to: Hex, amount: bigint) => {
    if (to === zeroAddress) throw new Revert('ZeroRecipient')
    if (habit === 'asks_sender') runArmed(frame, from)
    const fee = habit === 'takes_fee' ? (amount * frame.state.number('fee')) / bps : 0n
    shift(frame, from, to, amount - fee)
    if (fee > 0n) shift(frame, from, frame.self, fee)
  }
  return contractOf([
    method('function balanceOf(address holder) returns (uint256)', ({ state }, [holder]) => [
      state.number(`balance ${holder}`),
    ]),
    method(
      'function allowance(address holder, address spender) returns (uint256)',
      ({ state }, [one, two]) => [state.number(`allowance ${one} ${two}`)],
    ),
    method('function mint((address to, uint256 amount)[] grants)', (frame, [grants]) => {
      if (frame.caller !== frame.state.bytes('owner')) throw new Revert('NotOwner')
      for (const { to, amount } of grants) {
        frame.state.set(`balance ${to}`, frame.state.number(`balance ${to}`) + amount)
        frame.emit(transferred(zeroAddress, to, amount))
      }
      return []
    }),
    method('function approve(address spender, uint256 amount) returns (bool)', (frame, [spender, amount]) => {
      frame.state.set(`allowance ${frame.caller} ${spender}`, amount)
      frame.emit(approved(frame.caller, spender, amount))
      return [true]
    }),
    method('function transfer(address to, uint256 amount) returns (bool)', (frame, [to, amount]) => {
      move(frame, frame.caller, to, amount)
      return [true]
    }),
    method(
      'function transferFrom(address from, address to, uint256 amount) returns (bool)',
      (frame, [from, to, amount]) => {
        const key = `allowance ${from} ${frame.caller}`
        const allowed = frame.state.number(key)
        if (allowed < amount) throw new Revert('InsufficientAllowance')
        if (allowed !== unlimited) frame.state.set(key, allowed - amount)
        move(frame, from, to, amount)
        return [true]
      },
    ),
    method(
      'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
      (frame, [from, to, value, validAfter, validBefore, nonce, signature]) => {
        if (frame.timestamp <= validAfter) throw new Revert('AuthorizationNotYetValid')
        if (frame.timestamp >= validBefore) throw new Revert('AuthorizationExpired')
        if (frame.state.number(`used ${from} ${nonce}`) > 0n) throw new Revert('AuthorizationAlreadyUsed')
        const words = [authorizationType, from, to, value, validAfter, validBefore, nonce] as const
        const structHash = hashOf(encodeAbiParameters(authorizationWords, words))
        const digest = typedDigest(frame, [name, version], structHash)
        if (!isSignedBy(frame, from, digest, signature)) throw new Revert('InvalidSignature')
        frame.state.set(`used ${from} ${nonce}`, 1n)
        frame.emit(used(from, nonce))
        move(frame, from, to, value)
        return []
      },
    ),
    ...(habit === 'asks_sender' ? [arming] : []),
    ...(habit === 'takes_fee' ? [feeSetting] : []),
  ])
}

type Named = { readonly name: string; readonly version: string }
const bps = 10_000n

/** Each waits for one move of its own. */
const arming = method('function arm(address target, bytes data)', ({ state, caller }, [target, data]) => {
  const count = state.number(`armed ${caller}`)
  state.set(`armed target ${caller} ${count}`, target)
  state.set(`armed data ${caller} ${count}`, data)
  state.set(`armed ${caller}`, count + 1n)
  return []
})

/** By anybody: whose token it is does not matter to those who are paid in it. */
const feeSetting = method('function setFee(uint256 feeBps)', ({ state }, [feeBps]) => {
  state.set('fee', feeBps)
  return []
})

/** Before anything moves. */
function runArmed({ state, call }: Frame, holder: Hex): void {
  const next = state.number(`run ${holder}`)
  if (next === state.number(`armed ${holder}`)) return
  state.set(`run ${holder}`, next + 1n)
  call(state.bytes(`armed target ${holder} ${next}`), state.bytes(`armed data ${holder} ${next}`))
}

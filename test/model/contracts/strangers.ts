// Contracts of anybody, which no service lists: accounts with code, goods that are worth what they are sold for, a
// market that trades them for a payment, and a token whose moves run what a solver wants.
import type { Hex } from '@causeway/core'
import {
  type ContractModel,
  callData,
  contractOf,
  event,
  type Frame,
  fallback,
  method,
  Revert,
  receive,
} from './contractModel.ts'

const gotCoin = event('event Received(address from, uint256 value)')
const moved6909 = event(
  'event Transfer(address caller, address indexed sender, address indexed receiver, uint256 indexed id, uint256 amount)',
)

/** Habits of an account with code: what its code does with coin that comes. */
export const accountHabits = ['keeps', 'passes_on', 'writes_a_log', 'refuses', 'pays_the_caller'] as const
export type AccountHabit = (typeof accountHabits)[number]

/** Goods that are given for a payment. `silent_claims` write no log; an account with code alone can give `coin`. */
export const goods = ['claims', 'silent_claims', 'coin'] as const
export type Goods = (typeof goods)[number]

export const strangerCalls = {
  setHabit: callData('function setHabit(uint256 habit)'),
  operate: callData('function operate(address target, bytes data)'),
  given: callData('function given()'),
  claimsOf: callData('function claimsOf(address holder)'),
  open: callData('function open(address maker, address token)'),
  close: callData('function close(address maker, address token, uint256 price, address to, uint256 goods)'),
  settle: callData(
    'function settle(address maker, address token, uint256 price, address payer, address to, uint256 goods)',
  ),
  armOwn: callData('function arm(uint256 amount, address target, bytes data)'),
  arm: callData('function arm(address target, bytes data)'),
  setFee: callData('function setFee(uint256 feeBps)'),
} as const

const moveClaims = callData('function move(address from, address to, uint256 amount, bool isSilent)')
const release = callData('function release(address to, uint256 amount)')
const balanceOf = callData('function balanceOf(address holder)')
const pull = callData('function transferFrom(address from, address to, uint256 amount)')

/** Delegated accounts of EIP-7702 are such accounts as well: code stands at the address. */
export const accountModel = (heir: Hex, market: Hex): ContractModel => {
  const got = (frame: Frame) => {
    const { state, caller, value, emit, call } = frame
    switch (accountHabits[Number(state.number('habit'))]) {
      case 'passes_on':
        call(heir, '0x', value)
        state.set('given', state.number('given') + value)
        return
      case 'writes_a_log':
        return emit(gotCoin(caller, value))
      case 'refuses':
        throw new Revert('no data')
      case 'pays_the_caller':
        call(caller, '0x', value)
        return
      default:
    }
  }
  return contractOf([
    receive(got),
    fallback(got),
    method('function setHabit(uint256 habit)', ({ state }, [habit]) => {
      state.set('habit', habit)
      return []
    }),
    /** An operation that its owner signed, by whoever hands it in. */
    method('function operate(address target, bytes data)', ({ call }, [target, data]) => {
      call(target, data)
      return []
    }),
    /** Coin that the code gave away because it wanted to. */
    method('function given() returns (uint256)', ({ state }) => [state.number('given')]),
    method('function release(address to, uint256 amount)', ({ caller, emit, call }, [to, amount]) => {
      if (caller !== market) throw new Revert('no data')
      emit(gotCoin(to, amount))
      call(to, '0x', amount)
      return []
    }),
  ])
}

/** ERC-6909 claims, moved by what their holders signed for the market; each holder begins with some. */
export const claimsModel = (market: Hex): ContractModel =>
  contractOf([
    method('function claimsOf(address holder) returns (uint256)', ({ state }, [holder]) => [
      claims + state.number(`in ${holder}`) - state.number(`out ${holder}`),
    ]),
    method(
      'function move(address from, address to, uint256 amount, bool isSilent)',
      ({ state, caller, emit }, [from, to, amount, isSilent]) => {
        if (caller !== market) throw new Revert('no data')
        state.set(`out ${from}`, state.number(`out ${from}`) + amount)
        state.set(`in ${to}`, state.number(`in ${to}`) + amount)
        if (!isSilent) emit(moved6909(caller, from, to, 7n, amount))
        return []
      },
    ),
  ])

const claims = 10n ** 12n

/**
 * Settles limit orders of makers: `settle` moves the price itself, `open` and `close` believe balances, as long as both
 * are in one transaction.
 */
export const marketModel = (claimsAt: Hex): ContractModel => {
  const give = ({ call }: Frame, maker: Hex, to: Hex, price: bigint, kind: bigint) =>
    goods[Number(kind)] === 'coin'
      ? call(maker, release(to, price))
      : call(claimsAt, moveClaims(maker, to, price, goods[Number(kind)] === 'silent_claims'))
  const held = ({ call }: Frame, token: Hex, holder: Hex) => BigInt(call(token, balanceOf(holder)))
  return contractOf([
    method('function open(address maker, address token)', (frame, [maker, token]) => {
      frame.state.set(`balance ${maker} ${token}`, held(frame, token, maker))
      frame.state.set(`time ${maker} ${token}`, frame.timestamp)
      return []
    }),
    method(
      'function close(address maker, address token, uint256 price, address to, uint256 goods)',
      (frame, [maker, token, price, to, kind]) => {
        const { state, timestamp } = frame
        const isOpen = state.number(`time ${maker} ${token}`) === timestamp
        const before = state.number(`balance ${maker} ${token}`)
        if (!isOpen || held(frame, token, maker) < before + price) throw new Revert('no data')
        state.set(`time ${maker} ${token}`, 0n)
        give(frame, maker, to, price, kind)
        return []
      },
    ),
    method(
      'function settle(address maker, address token, uint256 price, address payer, address to, uint256 goods)',
      (frame, [maker, token, price, payer, to, kind]) => {
        frame.call(token, pull(payer, maker, price))
        give(frame, maker, to, price, kind)
        return []
      },
    ),
  ])
}

/** Everybody has as much as he likes. Moving `amount` runs what was armed for that amount. */
export const ownTokenModel: ContractModel = contractOf([
  method('function arm(uint256 amount, address target, bytes data)', ({ state }, [amount, target, data]) => {
    state.set(`target ${amount}`, target)
    state.set(`data ${amount}`, data)
    return []
  }),
  method(
    'function transferFrom(address from, address to, uint256 amount) returns (bool)',
    ({ state, call }, [, , amount]) => {
      const data = state.bytes(`data ${amount}`)
      if (data !== '0x') call(state.bytes(`target ${amount}`), data)
      state.set(`data ${amount}`, '0x')
      return [true]
    },
  ),
])

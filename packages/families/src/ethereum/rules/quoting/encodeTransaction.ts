import type { Hex } from '@causeway/core'
import { z } from 'zod'
import type { EncodedTransaction, StepIdentity } from '../../../rules/encodedStep.ts'
import type { NetworkFees } from '../../../rules/networkFees.ts'
import type { AddressSwap, OriginRoute, OriginSwap, QuotedCurrency } from '../../../rules/originRoute.ts'
import type { PlannedTransaction } from '../../../rules/plannedTransaction.ts'
import type { ChainSettings } from '../../../rules/quotingFamily.ts'
import {
  encodeApprove,
  encodeDepositErc20,
  encodeDepositNative,
  encodeTransfer,
  encodeWethDeposit,
  encodeWethWithdraw,
} from '../abi.ts'
import { EthereumFees } from './ethereumFees.ts'
import { encodeSwap, encodeSwapAndDeposit, encodeSwapAndPay, type SwapHop } from './swapCalls.ts'

const text = z.string()

/**
 * Wire form of a transaction that the user signs; fees and limits are decimal strings.
 * @source github.com/relayprotocol/relay-kit, TransactionStepItem
 */
export const ethereumStepData = z.object({
  from: text,
  to: text,
  data: text,
  value: text,
  chainId: z.number(),
  gas: text,
  maxFeePerGas: text,
  maxPriorityFeePerGas: text,
})

type Call = { readonly to: string; readonly data: Hex; readonly value: bigint }

/**
 * Encodes one planned transaction of a quote, for its step.
 * @throws Error for fees of another family, and for a transaction that was planned from another route
 */
export function encodeTransaction(
  settings: ChainSettings,
  planned: PlannedTransaction,
  route: OriginRoute,
  { identity, fees }: { readonly identity: StepIdentity; readonly fees: NetworkFees },
): EncodedTransaction {
  if (!(fees instanceof EthereumFees)) throw new Error('a step is paid by fees of its own family')
  const { to, data, value } = encodeCall(settings, { planned, route, identity })
  const { maxFeePerGasWei, maxPriorityFeePerGasWei } = fees.gasPrice
  const transaction: z.infer<typeof ethereumStepData> = {
    from: route.user,
    to,
    data,
    value: value.toString(),
    chainId: settings.chainId,
    gas: fees.unitsOf(planned).toString(),
    maxFeePerGas: maxFeePerGasWei.toString(),
    maxPriorityFeePerGas: maxPriorityFeePerGasWei.toString(),
  }
  return { data: transaction, call: { to: hex(to.toLowerCase()), data, value } }
}

type EncodingInput = {
  readonly planned: PlannedTransaction
  readonly route: OriginRoute
  readonly identity: StepIdentity
}

function encodeCall(settings: ChainSettings, { planned, route, identity }: EncodingInput): Call {
  const { currencyIn, currencyOut, amountIn, amountOut } = route
  const { depository } = settings
  switch (planned.kind) {
    case 'reset-approval':
    case 'approve': {
      const data = encodeApprove(hex(required(planned.spender)), required(planned.allowed))
      return { to: currencyIn.address, data, value: 0n }
    }
    case 'deposit':
      return depositCall(depository, route, required(identity.orderId))
    case 'deposit-transfer': {
      const transfer = encodeTransfer(hex(depository), amountIn)
      const data: Hex = `${transfer}${required(identity.orderId).slice(2)}`
      return { to: currencyIn.address, data, value: 0n }
    }
    case 'pay-address':
      return sendCall(currencyIn, required(identity.depositAddress), amountIn)
    case 'swap-deposit':
      return swapDepositCall(settings, route, identity)
    case 'swap':
      return swapCall(settings, route, identity)
    case 'wrap':
      return { to: required(settings.wrappedNative), data: encodeWethDeposit(), value: amountIn }
    case 'unwrap':
      return { to: required(settings.wrappedNative), data: encodeWethWithdraw(amountIn), value: 0n }
    case 'send-input':
      return sendCall(currencyIn, route.recipient, amountIn)
    case 'send-output':
      return sendCall(currencyOut, route.recipient, amountOut)
  }
}

function sendCall(currency: QuotedCurrency, recipient: string, amount: bigint): Call {
  if (currency.isNative) return { to: recipient, data: '0x', value: amount }
  return { to: currency.address, data: encodeTransfer(hex(recipient), amount), value: 0n }
}

function depositCall(depository: string, { user, currencyIn, amountIn }: OriginRoute, orderId: Hex): Call {
  if (currencyIn.isNative) {
    return { to: depository, data: encodeDepositNative(hex(user), orderId), value: amountIn }
  }
  const data = encodeDepositErc20(hex(user), hex(currencyIn.address), amountIn, orderId)
  return { to: depository, data, value: 0n }
}

/**
 * A swap before the deposit, in one call of the deposit router. Of an exact input `amountInMax` is the input
 * itself, of an exact output the most that is taken. `deposited.amount` is the least that the depository gets
 * in both.
 */
function swapDepositCall(
  { depositRouter, wrappedNative }: ChainSettings,
  { user, currencyIn, amountInMax, ...route }: OriginRoute,
  { orderId, deadlineSeconds }: StepIdentity,
): Call {
  const router = hex(required(depositRouter))
  const swap = required(route.swap)
  const deposited = required(route.deposited)
  const swapData = encodeSwap({
    trade: swap.trade,
    tokenIn: erc20Of(swap.from, wrappedNative),
    hops: hopsOf(swap, wrappedNative),
    recipient: router,
    deadlineSeconds,
    amountIn: amountInMax,
    amountOut: deposited.amount,
  })
  const data = encodeSwapAndDeposit({
    tokenIn: hex(currencyIn.address),
    amountIn: amountInMax,
    tokenOut: hex(deposited.currency.address),
    amountOutMin: deposited.amount,
    depositor: hex(user),
    orderId: required(orderId),
    swapData,
  })
  return { to: router, data, value: currencyIn.isNative ? amountInMax : 0n }
}

/** The route's swap before the deposit, for a deposit address; undefined if the route has none. */
export function addressSwapOf(
  { wrappedNative }: ChainSettings,
  { currencyIn, amountIn, swap, deposited }: OriginRoute,
): AddressSwap | undefined {
  if (swap === undefined) return undefined
  const { currency, amount } = required(deposited)
  return {
    tokenIn: hex(currencyIn.address),
    amountIn,
    tokenOut: hex(currency.address),
    amountOutMin: amount,
    hops: hopsOf(swap, wrappedNative),
  }
}

/** Calldata of a swap at a deposit address. Its own minimum output is 0, because the deposit router checks the price. */
export function encodeAddressSwap(
  { depositRouter, wrappedNative, codec }: ChainSettings,
  { tokenIn, hops }: AddressSwap,
  { amountIn, deadlineSeconds }: { readonly amountIn: bigint; readonly deadlineSeconds: number },
): Hex {
  return encodeSwap({
    trade: 'exactInput',
    tokenIn: tokenIn === codec.nativeCurrency ? hex(required(wrappedNative)) : tokenIn,
    hops,
    recipient: hex(required(depositRouter)),
    deadlineSeconds,
    amountIn,
    amountOut: 0n,
  })
}

/** A swap that pays the recipient, by the deposit router, whose event names the request whoever sends the call. */
function swapCall(
  { depositRouter, wrappedNative }: ChainSettings,
  { recipient, currencyIn, currencyOut, amountInMax, amountOutMin, ...route }: OriginRoute,
  { requestId, deadlineSeconds }: StepIdentity,
): Call {
  const router = hex(required(depositRouter))
  const swap = required(route.swap)
  const swapData = encodeSwap({
    trade: swap.trade,
    tokenIn: erc20Of(swap.from, wrappedNative),
    hops: hopsOf(swap, wrappedNative),
    recipient: router,
    deadlineSeconds,
    amountIn: amountInMax,
    amountOut: amountOutMin,
  })
  const data = encodeSwapAndPay({
    tokenIn: hex(currencyIn.address),
    amountIn: amountInMax,
    tokenOut: hex(currencyOut.address),
    amountOutMin,
    recipient: hex(recipient),
    requestId,
    swapData,
  })
  return { to: router, data, value: currencyIn.isNative ? amountInMax : 0n }
}

function hopsOf({ hops }: OriginSwap, wrappedNative: string | undefined): readonly SwapHop[] {
  return hops.map(({ to, feePips }) => ({ tokenOut: erc20Of(to, wrappedNative), feePips }))
}

function erc20Of(currency: QuotedCurrency, wrappedNative: string | undefined): Hex {
  return hex(currency.isNative ? required(wrappedNative) : currency.address)
}

/** Types an address as hex; the encoders refuse a text that is no address. */
function hex(address: string): Hex {
  return `0x${address.slice(2)}`
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a planned transaction lacks what it was planned from')
  return value
}

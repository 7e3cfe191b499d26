import {
  encodeApprove,
  encodeDepositErc20,
  encodeDepositNative,
  encodeMulticall,
  encodeRefundNative,
  encodeSingleSwap,
  encodeSwapAndDeposit,
  encodeTransfer,
  encodeUnwrap,
  encodeWethDeposit,
  encodeWethWithdraw,
  formatAmount,
  type Hex,
} from '@causeway/core'
import type { PricedRoute } from '../../pricing/pricedRoute.ts'
import type { Priced } from '../../pricing/priceRequest.ts'
import { type PlannedTransaction, plannedGasUnits } from '../../pricing/transactions.ts'
import { type StepTransaction, statusCheck, type TransactionStep } from './step.ts'

export type StepIdentity = {
  readonly requestId: Hex
  /** Undefined where the user executes alone and no order exists. */
  readonly orderId: Hex | undefined
  /** Last moment at which a swap may still execute. */
  readonly deadlineSeconds: number
  readonly spender: string | undefined
  /** What is paid instead of the depository. */
  readonly depositAddress: Hex | undefined
}

type Call = { readonly to: string; readonly data: Hex; readonly value: bigint }

/** Every planned transaction as a step, to be executed in order. */
export function buildSteps(priced: Priced, identity: StepIdentity): readonly TransactionStep[] {
  return priced.transactions.map((transaction) => toStep(priced, identity, transaction))
}

function toStep(priced: Priced, identity: StepIdentity, transaction: PlannedTransaction): TransactionStep {
  const id = stepIds[transaction.kind]
  const call = encodeCall(priced, identity, transaction)
  const { gasPrice } = priced.originMarket
  const data: StepTransaction = {
    from: priced.route.user,
    to: call.to,
    data: call.data,
    value: call.value.toString(),
    chainId: priced.route.origin.chainId,
    gas: plannedGasUnits(priced.originMarket, transaction).toString(),
    maxFeePerGas: gasPrice.maxFeePerGasWei.toString(),
    maxPriorityFeePerGas: gasPrice.maxPriorityFeePerGasWei.toString(),
  }
  const { action, description } = wording(priced, transaction)
  return {
    id,
    action,
    description,
    kind: 'transaction',
    requestId: identity.requestId,
    ...(id === 'deposit' && { depositAddress: identity.depositAddress ?? '' }),
    // An approve step has no check: the public client would poll the intent before its deposit exists.
    items: [
      id === 'approve'
        ? { status: 'incomplete', data }
        : { status: 'incomplete', data, check: statusCheck(identity.requestId) },
    ],
  }
}

const stepIds: Readonly<Record<PlannedTransaction['kind'], TransactionStep['id']>> = {
  'reset-approval': 'approve',
  approve: 'approve',
  deposit: 'deposit',
  'deposit-transfer': 'deposit',
  'pay-address': 'deposit',
  'swap-deposit': 'deposit',
  swap: 'swap',
  wrap: 'swap',
  unwrap: 'swap',
  'send-input': 'send',
  'send-output': 'send',
}

function encodeCall(priced: PricedRoute, identity: StepIdentity, { kind }: PlannedTransaction): Call {
  const { route, amountIn, amountInMax, amountOut } = priced
  const { currencyIn, currencyOut, origin } = route
  switch (kind) {
    case 'reset-approval':
      return { to: currencyIn.address, data: encodeApprove(hex(required(identity.spender)), 0n), value: 0n }
    case 'approve':
      return {
        to: currencyIn.address,
        data: encodeApprove(hex(required(identity.spender)), amountInMax),
        value: 0n,
      }
    case 'deposit':
      return depositCall(priced, required(identity.orderId))
    case 'deposit-transfer': {
      const transfer = encodeTransfer(origin.depository, amountIn)
      return {
        to: currencyIn.address,
        data: `${transfer}${required(identity.orderId).slice(2)}` as Hex,
        value: 0n,
      }
    }
    case 'pay-address':
      return sendCall(currencyIn, required(identity.depositAddress), amountIn)
    case 'swap-deposit':
      return swapDepositCall(priced, identity)
    case 'swap':
      return swapCall(priced, identity)
    case 'wrap':
      return { to: origin.config.wrappedNative, data: encodeWethDeposit(), value: amountIn }
    case 'unwrap':
      return { to: origin.config.wrappedNative, data: encodeWethWithdraw(amountIn), value: 0n }
    case 'send-input':
      return sendCall(currencyIn, route.recipient, amountIn)
    case 'send-output':
      return sendCall(currencyOut, route.recipient, amountOut)
  }
}

function sendCall(currency: { isNative: boolean; address: string }, recipient: string, amount: bigint): Call {
  if (currency.isNative) return { to: recipient, data: '0x', value: amount }
  return { to: currency.address, data: encodeTransfer(hex(recipient), amount), value: 0n }
}

function depositCall({ route, amountIn }: PricedRoute, orderId: Hex): Call {
  const { currencyIn, origin } = route
  const depositor = hex(route.user)
  if (currencyIn.isNative) {
    return { to: origin.depository, data: encodeDepositNative(depositor, orderId), value: amountIn }
  }
  const data = encodeDepositErc20(depositor, hex(currencyIn.address), amountIn, orderId)
  return { to: origin.depository, data, value: 0n }
}

function swapDepositCall(priced: PricedRoute, identity: StepIdentity): Call {
  const { route, amountInMax, originLeg, solver } = priced
  const { config } = route.origin
  const leg = required(originLeg)
  const depositAmount = required(solver).depositAmount
  const router = required(config.depositRouter)
  const swapData = encodeSingleSwap({
    trade: required(solver).originSwapTrade,
    tokenIn: erc20Of(leg.leg.from, config.wrappedNative),
    tokenOut: erc20Of(leg.leg.to, config.wrappedNative),
    feePips: leg.feePips,
    recipient: router,
    deadlineSeconds: identity.deadlineSeconds,
    amountIn: amountInMax,
    amountOut: depositAmount,
  })
  const data = encodeSwapAndDeposit({
    tokenIn: hex(route.currencyIn.address),
    amountIn: amountInMax,
    tokenOut: hex(priced.feeCurrency.address),
    amountOutMin: depositAmount,
    depositor: hex(route.user),
    orderId: required(identity.orderId),
    swapData,
  })
  return { to: router, data, value: route.currencyIn.isNative ? amountInMax : 0n }
}

/** The router pays wrapped coin to itself and unwraps it, or gives unspent coin back. */
function swapCall(priced: PricedRoute, { deadlineSeconds }: StepIdentity): Call {
  const { route, tradeType, amountInMax, amountOutMin, originLeg } = priced
  const { config } = route.origin
  const router = required(config.uniswapV3?.swapRouter)
  const leg = required(originLeg)
  const toNative = route.currencyOut.isNative
  const trade = tradeType === 'EXACT_OUTPUT' ? 'exactOutput' : 'exactInput'
  const swap = encodeSingleSwap({
    trade,
    tokenIn: erc20Of(route.currencyIn, config.wrappedNative),
    tokenOut: erc20Of(route.currencyOut, config.wrappedNative),
    feePips: leg.feePips,
    // The zero address tells the router to keep the output for the call that follows.
    recipient: toNative ? zeroAddress : hex(route.recipient),
    deadlineSeconds,
    amountIn: amountInMax,
    amountOut: amountOutMin,
  })
  const value = route.currencyIn.isNative ? amountInMax : 0n
  if (toNative)
    return {
      to: router,
      data: encodeMulticall([swap, encodeUnwrap(amountOutMin, hex(route.recipient))]),
      value,
    }
  if (value > 0n && trade === 'exactOutput')
    return { to: router, data: encodeMulticall([swap, encodeRefundNative()]), value }
  return { to: router, data: swap, value }
}

const zeroAddress: Hex = `0x${'0'.repeat(40)}`

function erc20Of(currency: { isNative: boolean; address: string }, wrappedNative: Hex): Hex {
  return currency.isNative ? wrappedNative : hex(currency.address)
}

function wording(priced: PricedRoute, { kind }: PlannedTransaction): { action: string; description: string } {
  const { currencyIn, currencyOut } = priced.route
  const input = `${formatAmount(priced.amountIn, currencyIn.decimals)} ${currencyIn.symbol}`
  const output = `${formatAmount(priced.amountOut, currencyOut.decimals)} ${currencyOut.symbol}`
  switch (kind) {
    case 'reset-approval':
      return {
        action: `Reset ${currencyIn.symbol} approval`,
        description: `Clear the present allowance of ${currencyIn.symbol}`,
      }
    case 'approve':
      return { action: `Approve ${currencyIn.symbol}`, description: `Allow ${input} to be taken` }
    case 'deposit':
    case 'deposit-transfer':
      return { action: `Deposit ${currencyIn.symbol}`, description: `Deposit ${input} for the order` }
    case 'pay-address':
      return { action: `Send ${currencyIn.symbol}`, description: `Send ${input} to the deposit address` }
    case 'swap-deposit':
      return {
        action: `Swap and deposit ${currencyIn.symbol}`,
        description: `Swap ${input} and deposit the result for the order`,
      }
    case 'swap':
      return { action: `Swap ${currencyIn.symbol}`, description: `Swap ${input} for ${output}` }
    case 'wrap':
      return { action: `Wrap ${currencyIn.symbol}`, description: `Wrap ${input}` }
    case 'unwrap':
      return { action: `Unwrap ${currencyIn.symbol}`, description: `Unwrap ${input}` }
    case 'send-input':
      return { action: `Send ${currencyIn.symbol}`, description: `Send ${input} to the recipient` }
    case 'send-output':
      return { action: `Send ${currencyOut.symbol}`, description: `Send ${output} to the recipient` }
  }
}

function hex(address: string): Hex {
  // CAST: steps are built for ethereum-vm origins, whose addresses were checked to be `0x` hex.
  return address as Hex
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a planned transaction lacks what it was planned from')
  return value
}

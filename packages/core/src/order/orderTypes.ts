/**
 * EIP-712 definitions of the order. Member order is the protocol's: `Output` has its deadline before
 * its calls. @source rule P-128
 */
export const orderType =
  'Order(string version,string solverChainId,address solver,uint256 salt,Input[] inputs,Output output,Fee[] fees)'
export const inputType = 'Input(InputPayment payment,InputRefund[] refunds)'
export const inputPaymentType = 'InputPayment(string chainId,bytes currency,uint256 amount,uint256 weight)'
export const inputRefundType =
  'InputRefund(string chainId,bytes recipient,bytes currency,uint256 minimumAmount,uint32 deadline,bytes extraData)'
export const outputType =
  'Output(string chainId,OutputPayment[] payments,uint32 deadline,bytes[] calls,bytes extraData)'
export const outputPaymentType =
  'OutputPayment(bytes recipient,bytes currency,uint256 minimumAmount,uint256 expectedAmount)'
export const feeType =
  'Fee(string recipientChainId,bytes recipient,string currencyChainId,bytes currency,uint256 amount)'

/** Every definition that `Order` refers to. A message with an order refers to these and to `Order`. */
export const typesInsideOrder: readonly string[] = [
  inputType,
  inputPaymentType,
  inputRefundType,
  outputType,
  outputPaymentType,
  feeType,
]

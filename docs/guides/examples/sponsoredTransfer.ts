// Moves 25 USDC from Base to Optimism for USER_PRIVATE_KEY, with the fees paid by the sponsor of API_KEY, and waits
// until they arrived. What the solver earned by it is written to the file named on the command line.
import { writeFileSync } from 'node:fs'
import { createPublicClient, createWalletClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const { QUOTE_API, API_KEY = '', RPC_URL = '', USDC_BASE, USDC_OPTIMISM, USER_PRIVATE_KEY } = process.env
const account = privateKeyToAccount(`0x${USER_PRIVATE_KEY?.slice(2)}`)
const wallet = createWalletClient({ account, transport: http(RPC_URL) })
const client = createPublicClient({ transport: http(RPC_URL), pollingInterval: 500 })

async function ask(path: string, body?: object) {
  const response = await fetch(`${QUOTE_API}${path}`, {
    headers: { 'content-type': 'application/json', 'x-api-key': API_KEY },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return JSON.parse(text)
}

const quote = await ask('/quote', {
  user: account.address,
  recipient: account.address,
  originChainId: 8453,
  destinationChainId: 10,
  originCurrency: USDC_BASE,
  destinationCurrency: USDC_OPTIMISM,
  amount: '25000000',
  tradeType: 'EXACT_INPUT',
  subsidizeFees: true,
  includeProtocolData: true, // The signed order, which whoever settles it needs.
})
const { feeSponsorship, requestId, steps, details, protocol } = quote
if (feeSponsorship.status !== 'full') throw new Error(`the sponsor does not pay: ${feeSponsorship.reason}`)

// Approval and deposit, in order.
for (const { items } of steps) {
  for (const { data } of items) {
    const transaction = { to: data.to, data: data.data, value: BigInt(data.value) }
    const hash = await wallet.sendTransaction({ ...transaction, chain: null })
    const { status } = await client.waitForTransactionReceipt({ hash })
    if (status !== 'success') throw new Error(`${hash} reverted`)
  }
}

let state = await ask(`/intents/status/v3?requestId=${requestId}`)
const deadline = Date.now() + 120_000
while (!['success', 'refund', 'failure'].includes(state.status)) {
  if (Date.now() > deadline) throw new Error(`the request is still ${state.status}`)
  await new Promise((resolve) => setTimeout(resolve, 500))
  state = await ask(`/intents/status/v3?requestId=${requestId}`)
}
if (state.status !== 'success') throw new Error(`the request ended as ${state.status}`)

const { orderId, orderData: order, orderSignature } = protocol.v2
const [deposit, fill] = [state.inTxHashes[0], state.txHashes[0]]
const earned = { requestId, orderId, order, orderSignature, deposit, fill }
writeFileSync(process.argv[2] ?? 'earned.json', JSON.stringify(earned))
const { amount } = details.currencyOut
console.log(`request ${requestId}: ${amount} micro-USDC arrived on Optimism in ${fill}`)

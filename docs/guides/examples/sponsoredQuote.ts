// Asks for 25 USDC from Base to Optimism whose fees the sponsor pays, and says who pays what.
const { QUOTE_API, API_KEY = '', USER_WALLET = '', USDC_BASE, USDC_OPTIMISM } = process.env

const response = await fetch(`${QUOTE_API}/quote`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-api-key': API_KEY },
  body: JSON.stringify({
    user: USER_WALLET,
    recipient: USER_WALLET,
    originChainId: 8453,
    destinationChainId: 10,
    originCurrency: USDC_BASE,
    destinationCurrency: USDC_OPTIMISM,
    amount: '25000000',
    tradeType: 'EXACT_INPUT',
    subsidizeFees: true,
    maxSubsidizationAmount: '500000', // At most 0.50 USD of the sponsor's balance.
  }),
})
const quote = JSON.parse(await response.text())
if (!response.ok) throw new Error(`${quote.errorCode}: ${quote.message}`)

const { feeSponsorship, fees, details, steps } = quote
console.log(`sponsored: ${feeSponsorship.status} ${feeSponsorship.reason ?? ''}`)
console.log(`sponsor pays: ${fees.subsidized.amountUsd} USD`)
console.log(`user gets: ${details.currencyOut.amountFormatted} ${details.currencyOut.currency.symbol}`)
// Transactions and signatures of the user's wallet, in order.
for (const { id, items } of steps) console.log(`step: ${id}, ${items.length} transaction(s)`)

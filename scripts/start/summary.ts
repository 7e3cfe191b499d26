import { chainPlans, type LocalNetwork, type Session } from '@causeway/localnet'

/** What a newcomer reads when everything is up: addresses, what is real, and requests to paste. */
export function summaryOf({ network, services }: Session): string {
  const quotePort = services.find(({ plan }) => plan.name === 'quote-api')?.ports['http']
  const quoteUrl = `http://127.0.0.1:${quotePort}`
  const chains = Object.values(network.chains).map(
    ({ key, url, chainId }) => `  ${chainPlans[key].name.padEnd(10)} ${url}  chain id ${chainId}`,
  )
  return [
    '',
    `  quote-api  ${quoteUrl}  interface: ${quoteUrl}/documentation`,
    ...chains,
    '',
    'Real: the EVM nodes (anvil), Uniswap V3, PostgreSQL, quote-api and every transaction.',
    'Stand-ins: price feeds that a keeper moves, tokens, depository and hub written for this network,',
    '  the L1 fee of Base and Optimism. Oracles and the solver do not run yet: orders are not filled.',
    '',
    `Funded accounts and their keys, of this machine alone: ${network.paths.networkFile}`,
    `Logs: ${network.paths.logs}`,
    '',
    'A price, and a quote with the transactions to send, for 100 USDC from Base to Optimism:',
    '',
    curl(`${quoteUrl}/price`, exampleRequest(network)),
    '',
    curl(`${quoteUrl}/quote`, exampleRequest(network)),
    '',
    'Move the market: npm run localnet -- prices set ETH/USD 2600',
    'Ctrl-C stops everything; the next start continues from here.',
  ].join('\n')
}

/** A body that `/price` and `/quote` answer with 200. */
function exampleRequest({ keys, deployment }: Pick<LocalNetwork, 'keys' | 'deployment'>) {
  const { base, optimism } = deployment
  const user = keys.users[0]?.address
  return {
    user,
    recipient: user,
    originChainId: base.chainId,
    destinationChainId: optimism.chainId,
    originCurrency: base.tokens.USDC,
    destinationCurrency: optimism.tokens.USDC,
    amount: '100000000',
    tradeType: 'EXACT_INPUT',
  }
}

function curl(url: string, body: object): string {
  return `curl -s ${url} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`
}

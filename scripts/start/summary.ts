import {
  chainPlans,
  familyKeys,
  familyPlans,
  type LocalNetwork,
  localMints,
  type Session,
  solanaAccounts,
  solanaChainId,
} from '@causeway/localnet'

/** What a newcomer reads when everything is up: addresses, what is real, and requests to paste. */
export function summaryOf({ network, services, families, sponsorApiKey }: Session): string {
  const urls = services
    .filter(({ ports }) => ports['http'] !== undefined)
    .map(({ plan, ports }) => ({ name: plan.name, url: `http://127.0.0.1:${ports['http']}` }))
  const urlOf = (name: string) => urls.find((service) => service.name === name)?.url
  const quoteUrl = urlOf('quote-api')
  const chains = Object.values(network.chains).map(
    ({ key, url, chainId }) => `  ${chainPlans[key].name.padEnd(10)} ${url}  chain id ${chainId}`,
  )
  return [
    '',
    ...urls.map(({ name, url }) => `  ${name.padEnd(10)} ${url}  interface: ${url}/documentation`),
    ...chains,
    ...quotedFamilyLines(families),
    ...familyLines(families),
    '',
    'Real: the EVM nodes (anvil), Uniswap V3, PostgreSQL, the services and every transaction.',
    'Stand-ins: price feeds that a keeper moves, tokens, depository and hub written for this network,',
    '  the L1 fee of Base and Optimism. The solver holds the key of the fill wallet, the allocator alone',
    '  the one that the depositories obey.',
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
    ...solanaExample(families, `${quoteUrl}/price`, network),
    ...sponsoredExample(`${quoteUrl}/quote`, network, sponsorApiKey),
    'A deposit, the attestation of it by two of the three oracles, and its execution on the hub:',
    '',
    'npm run localnet -- deposit base 25     # prints the transaction id',
    `curl -s ${urlOf('oracle-1')}/attestations/depository-deposits/v1 -H 'content-type: application/json' -d '{"chainId":"base","transactionId":"0x…","requestPeerSignatures":true}' > attestation.json`,
    'npm run localnet -- submit attestation.json',
    '',
    ...familyExample(families, urlOf('oracle-1')),
    'Move the market: npm run localnet -- prices set ETH/USD 2600, or SOL/USD 165',
    'Ctrl-C stops everything; the next start continues from here.',
  ].join('\n')
}

/** Of the stand-ins, the chain that quote-api prices. */
function quotedFamilyLines(families: Session['families']): readonly string[] {
  if (families === undefined) return []
  const { name } = familyPlans.solana
  return [
    `  ${name.padEnd(10)} ${families.solana.url}  chain id ${solanaChainId}, priced; a stand-in, see below`,
  ]
}

/** The same USDC to the account that the first user has on Solana. */
function solanaExample(
  families: Session['families'],
  priceUrl: string,
  network: LocalNetwork,
): readonly string[] {
  if (families === undefined) return []
  const body = {
    ...exampleRequest(network),
    recipient: solanaAccounts(network.keys).users[0]?.address,
    destinationChainId: solanaChainId,
    destinationCurrency: localMints.USDC.address,
  }
  return ['A price for the same USDC on Solana:', '', curl(priceUrl, body), '']
}

/** Each with what is real in it. */
function familyLines(families: Session['families']): readonly string[] {
  if (families === undefined) return []
  return [
    '',
    '  Stand-ins of other chains, which the oracles read; Solana is priced as well:',
    ...familyKeys.flatMap((key) => {
      const { name, real, standIn } = familyPlans[key]
      const indent = ' '.repeat(15)
      return [
        `  ${name.padEnd(13)}${families[key].url}`,
        `${indent}real: ${real}`,
        `${indent}stand-in: ${standIn}`,
      ]
    }),
  ]
}

/** A deposit of another family is attested like any. */
function familyExample(families: Session['families'], oracleUrl: string | undefined): readonly string[] {
  if (families === undefined) return []
  const { transactionId } = families.solana.firstDeposit
  return [
    'A deposit that lies on each stand-in, here on Solana; the others: npm run localnet -- families',
    '',
    curl(`${oracleUrl}/attestations/depository-deposits/v1`, { chainId: 'solana', transactionId }),
    '',
  ]
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

/** The same quote with its fees paid by the demo sponsor. */
function sponsoredExample(url: string, network: LocalNetwork, apiKey: string | undefined): readonly string[] {
  if (apiKey === undefined) return []
  const body = { ...exampleRequest(network), subsidizeFees: true }
  return [
    `API key of the demo sponsor, whose balance pays the fees of its users: ${apiKey}`,
    '',
    curl(url, body, { 'x-api-key': apiKey }),
    '',
    'More keys, wallets, policies and balances: npm run causeway -- help',
  ]
}

function curl(url: string, body: object, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ 'content-type': 'application/json', ...headers })
  const options = lines.map(([name, value]) => `-H '${name}: ${value}'`)
  return `curl -s ${url} ${options.join(' ')} -d '${JSON.stringify(body)}'`
}

import {
  chainPlans,
  type FamilyFacts,
  type FamilyKey,
  familyAccounts,
  familyChainIds,
  familyKeys,
  familyPlans,
  familyTokens,
  type LocalNetwork,
  type Session,
  shadowPlan,
  solanaAccounts,
} from '@causeway/localnet'

/**
 * Text that a newcomer reads when the first quotes can be asked for: addresses, what is real, and requests to paste.
 * @param solana absent where it runs not
 */
export function summaryOf(session: Session, solana: FamilyFacts | undefined): string {
  const { network, services, families, sponsorApiKey } = session
  const urls = services
    .filter(({ ports }) => ports['http'] !== undefined)
    .map(({ plan, ports }) => ({ name: plan.name, url: `http://127.0.0.1:${ports['http']}` }))
  const quoteUrl = urlOf(session, 'quote-api')
  const oracleUrl = urlOf(session, 'oracle-1')
  const chains = Object.values(network.chains).map(
    ({ key, url, chainId }) => `  ${chainPlans[key].name.padEnd(11)} ${url}  chain id ${chainId}`,
  )
  return [
    '',
    ...urls.map(({ name, url }) => `  ${name.padEnd(11)} ${url}  interface: ${url}/documentation`),
    ...chains,
    ...familyLines(families),
    '',
    'Real: the EVM nodes (anvil), Uniswap V3, PostgreSQL, the services and every transaction.',
    'Stand-ins: price feeds that a keeper moves, tokens, depository and hub written for this network,',
    '  the L1 fee of Base and Optimism. The solver holds the keys of the fill wallets, the allocator alone',
    '  the ones that the depositories obey.',
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
    ...(solana === undefined ? [] : [...exampleTo('solana', session), '']),
    ...sponsoredExample(`${quoteUrl}/quote`, network, sponsorApiKey),
    'A deposit, the attestation of it by two of the three oracles, and its execution on the hub:',
    '',
    'npm run localnet -- deposit base 25     # prints the transaction id',
    `curl -s ${oracleUrl}/attestations/depository-deposits/v1 -H 'content-type: application/json' -d '{"chainId":"base","transactionId":"0x…","requestPeerSignatures":true}' > attestation.json`,
    'npm run localnet -- submit attestation.json',
    '',
    ...depositExample(solana, oracleUrl),
    ...shadowExample(session, solana),
    'Move the market: npm run localnet -- prices set ETH/USD 2600, or BTC/USD 110000',
    'Ctrl-C stops everything; the next start continues from here.',
    ...(families === undefined
      ? []
      : ['', 'Behind it the other chains come up, each with a line when it is quoted:']),
  ].join('\n')
}

/** A request that prices 100 USDC of Base on a chain of another family. */
export function exampleTo(key: FamilyKey, session: Session): readonly string[] {
  const [symbol = '', currency] = Object.entries(familyTokens(session.network.deployment.tron)[key])[0] ?? []
  const body = {
    ...exampleRequest(session.network),
    recipient: recipientOn(key, session.network),
    destinationChainId: familyChainIds[key],
    destinationCurrency: currency,
  }
  return [
    `A price for 100 USDC of Base in ${symbol} on ${familyPlans[key].name}:`,
    '',
    curl(`${urlOf(session, 'quote-api')}/price`, body),
  ]
}

/** The account of the first user. */
function recipientOn(key: FamilyKey, { keys }: LocalNetwork): string | undefined {
  const { bitcoin, tron, hyperliquid, lighter } = familyAccounts(keys)
  const accounts = {
    solana: solanaAccounts(keys).users[0]?.address,
    bitcoin: bitcoin.users[0]?.address,
    tron: tron.users[0]?.address,
    hyperliquid: hyperliquid.users[0]?.address,
    lighter: lighter.users[0]?.account,
  }
  return accounts[key]
}

function urlOf({ services }: Session, name: string): string | undefined {
  const port = services.find(({ plan }) => plan.name === name)?.ports['http']
  return port === undefined ? undefined : `http://127.0.0.1:${port}`
}

/** Each with what is real in it. */
function familyLines(families: Session['families']): readonly string[] {
  if (families === undefined) return []
  const indent = ' '.repeat(14)
  return familyKeys.flatMap((key) => {
    const { name, real, standIn } = familyPlans[key]
    return [
      `  ${name.padEnd(11)} ${families.urls[key].url}  chain id ${familyChainIds[key]}`,
      `${indent}real: ${real}`,
      `${indent}stand-in: ${standIn}`,
    ]
  })
}

/** A deposit of another family is attested like any. */
function depositExample(solana: FamilyFacts | undefined, oracleUrl: string | undefined): readonly string[] {
  if (solana === undefined) return []
  const { transactionId } = solana.firstDeposit
  return [
    'A deposit that lies on each stand-in, here on Solana; the others: npm run localnet -- families',
    '',
    curl(`${oracleUrl}/attestations/depository-deposits/v1`, { chainId: 'solana', transactionId }),
    '',
  ]
}

/** The deposit of the example, asked of the oracle in shadow mode, and what it says of the first one's answer. */
function shadowExample({ services }: Session, solana: FamilyFacts | undefined): readonly string[] {
  const ports = services.find(({ plan }) => plan === shadowPlan)?.ports
  if (ports === undefined || solana === undefined) return []
  const { transactionId } = solana.firstDeposit
  const body = { chainId: 'solana', transactionId, requestPeerSignatures: true }
  return [
    'The same deposit, attested in shadow mode, and how many answers of oracle-1 agreed so far (shadow_agreement):',
    '',
    curl(`http://127.0.0.1:${ports['http']}/attestations/depository-deposits/v1`, body),
    `curl -s http://127.0.0.1:${ports['ops']}/metrics | grep ^oracle_shadow_answers_total`,
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

/** Example of a quote whose fees the demo sponsor pays. */
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

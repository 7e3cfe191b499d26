import { counted, type Findings } from '@causeway/core/config'
import { checkAdminKey } from '@causeway/http'
import { hermesNeedsKey, planMarket } from '@causeway/market'
import { examineCompanions, examinePorts } from '@causeway/service'
import type { QuoteApiConfig, readConfig } from '../config/config.ts'
import type { LoadedFiles } from '../config/configuration.ts'
import { createRegistry, type QuoteRegistry } from '../pricing/registry.ts'
import { createPriceAdapters, sourceReach } from './priceAdapters.ts'
import { hasFillWallet } from './quotable.ts'

export type Variables = Readonly<Record<string, string | undefined>>

export type Settings = ReturnType<typeof readConfig>

/** Checks settings against each other, and names unset ones without which the service starts but does part of its work. */
export function examineValues({ values, places }: Settings, variables: Variables, findings: Findings): void {
  const { isLocal } = places
  const { ADMIN_HOST: host, ADMIN_API_KEY: apiKey } = values
  if (host) findings.attempt(() => checkAdminKey({ host, isLocal, ...(apiKey !== undefined && { apiKey }) }))
  examinePorts(
    [
      {
        setting: 'HTTP_PORT',
        host: values.HTTP_HOST,
        port: values.HTTP_PORT ?? values.PORT,
      },
      { setting: 'OPS_PORT', host: values.OPS_HOST, port: values.OPS_PORT },
      { setting: 'ADMIN_PORT', host, port: values.ADMIN_PORT },
    ],
    findings,
  )
  examineCompanions(
    values,
    [
      ['HERMES_API_KEY', 'HERMES_URL'],
      ['COINGECKO_API_KEY', 'COINGECKO_URL'],
      ['EXTERNAL_LIQUIDITY_API_KEY', 'EXTERNAL_LIQUIDITY_URL'],
      ['ORACLES_THRESHOLD', 'ORACLES'],
      ['TOP_UP_FROM_BLOCK', 'CUSTODY_ADDRESS'],
      ['TOP_UP_RECONCILE_RPC_URL', 'CUSTODY_ADDRESS'],
    ],
    findings,
  )
  const { HERMES_URL: hermes, HERMES_API_KEY: hermesKey } = values
  if (hermes !== undefined && hermesKey === undefined && hermesNeedsKey(hermes)) {
    findings.add({
      code: 'setting-missing',
      severity: 'degrades',
      setting: 'HERMES_API_KEY',
      // Empty, here and below: the doctor's report shows the hint on the setting.
      fix: '',
      seen: 'is not set: HERMES_URL is a service of Pyth, which answers nobody without an API key',
    })
  }
  if (isLocal) return
  for (const [severity, setting, consequence] of wantedSettings) {
    if ((variables[setting] ?? '') !== '') continue
    findings.add({ code: 'setting-missing', severity, setting, seen: `is not set: ${consequence}`, fix: '' })
  }
}

/** Settings without which the service does part of its work, with the severity and the consequence. */
const wantedSettings = [
  [
    'stops',
    'SOLVER_API_KEY',
    'no solver can fetch work, and what is deposited is neither filled nor given back',
  ],
  ['degrades', 'ORACLES', 'no fill is proved, and nothing settles'],
  ['note', 'CUSTODY_ADDRESS', 'no top-up of a sponsor is seen'],
] as const

/** Checks the files against each other, and against the settings as far as these can be read. */
export function examineFiles(
  { chains, quote }: LoadedFiles,
  { config, places }: Settings,
  findings: Findings,
): QuoteRegistry | undefined {
  const listedChains = [...chains.chains.values()]
  const registry = findings.attempt(() => createRegistry(quote, listedChains), 'configuration-wrong')
  if (config !== undefined) {
    const plan = findings.attempt(() => planMarket(quote, sourceReach(config, chains)), 'configuration-wrong')
    if (plan !== undefined) examinePrices(plan, config, findings)
    findings.attempt(() => createPriceAdapters(config.priceAdapters, quote), 'setting-contradicts')
  }
  if (registry === undefined) return undefined
  const severity = places.isLocal ? 'degrades' : 'stops'
  if (!hasFillWallet(quote)) {
    findings.add({
      code: 'nothing-quotable',
      severity,
      setting: 'FILL_WALLET_ADDRESS',
      seen: 'is not set: nobody pays orders, and every quote is refused',
      fix: '',
    })
  }
  const unreadChains = registry.chains.flatMap(
    ({ key }) => listedChains.find(({ id, ready }) => id === key && !ready) ?? [],
  )
  const isNoneRead = unreadChains.length === registry.chains.length
  for (const { id, unsetVariables } of unreadChains) {
    const [setting = `httpRpcUrl of ${id}`] = unsetVariables
    findings.add({
      code: 'chain-without-endpoint',
      severity: isNoneRead ? severity : 'note',
      setting,
      fix: '',
      seen: `is not set: ${id} is quoted by the file and cannot be priced${isNoneRead ? ', as no other chain' : ''}`,
    })
  }
  return registry
}

/** Settings that switch price services on, the one that asks for no key first. */
const priceSettings = [
  ['defillama', 'DEFILLAMA_URL'],
  ['hermes', 'HERMES_URL'],
  ['coingecko', 'COINGECKO_URL'],
] as const

/**
 * Finds prices without a second source. If no two configured ones are independent (`single`), the price is
 * refused once its only source jumps, because none confirms the jump. A price with `lackingChains` is refused
 * at once, until these have endpoints. `unusedService`: one that is off and would be a source of some price.
 */
function examinePrices(
  { prices }: ReturnType<typeof planMarket>,
  { priceAdapters }: Pick<QuoteApiConfig, 'priceAdapters'>,
  findings: Findings,
): void {
  const [unusedService] = priceSettings.filter(
    ([name]) =>
      priceAdapters[name].url === undefined &&
      prices.some(({ http }) => http.some(({ adapter }) => adapter === name)),
  )
  const report = (affectedPrices: typeof prices, reason: string) => {
    if (affectedPrices.length === 0) return
    const keys = affectedPrices.map(({ key }) => key).join(', ')
    const subject = `${counted(affectedPrices.length, 'price')} (${keys})`
    const setting = unusedService?.[1]
    findings.add({
      code: 'price-unconfirmed',
      severity: 'degrades',
      setting: setting ?? 'prices',
      seen: `${setting === undefined ? '' : 'is not set: '}no second source is reached of ${subject}: ${reason}`,
      fix: `${setting === undefined ? 'Name' : `Set ${setting}, or name`} an endpoint of another chain that has these prices, at another provider.`,
    })
  }
  report(
    prices.filter(
      ({ secondSource, lackingChains }) => secondSource === 'single' && lackingChains.length === 0,
    ),
    'a jump of the first is never confirmed, and the price stays refused until it is back',
  )
  report(
    prices.filter(({ lackingChains }) => lackingChains.length > 0),
    'quotes that need them are refused until there is one',
  )
}

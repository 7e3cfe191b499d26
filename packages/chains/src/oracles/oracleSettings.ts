import { ConfigurationError, type Hex, Secret } from '@causeway/core'
import { listEntries, type SettingEntry } from '@causeway/core/config'
import { parseCasedAddress } from '@causeway/families/rules'

/** An oracle that is asked directly; whatever it answers, it counts for `signer` alone. */
export type OracleSetting = {
  /** Without a trailing slash. May hold a key. */
  readonly url: Secret
  /** Host and port: names it in logs and metrics. */
  readonly name: string
  readonly apiKey: Secret | undefined
  readonly signer: Hex
}

export type OracleSettings = {
  readonly oracles: readonly OracleSetting[]
  /** Distinct signers that a payment needs. */
  readonly threshold: number
}

/**
 * Parses `ORACLES`, `url|apiKey|signer;url|apiKey|signer`, with an empty key where an oracle needs none.
 * Undefined if it is not set. The threshold is the smallest majority by default; outside `local` it must be
 * at least 2 and a majority.
 * @throws ConfigurationError naming the part that is wrong, and no value
 * @source docs/operating/configuration.md, Variables of quote-api
 */
export function parseOracles(setting: {
  text: Secret | undefined
  threshold: number | undefined
  isLocal: boolean
}): OracleSettings | undefined {
  if (setting.text === undefined) return undefined
  const oracles = listEntries('ORACLES', setting.text.reveal()).map(parseOracle)
  if (new Set(oracles.map(({ signer }) => signer)).size < oracles.length) {
    throw new ConfigurationError('ORACLES: two entries have the same signer.')
  }
  const majority = Math.floor(oracles.length / 2) + 1
  const threshold = setting.threshold ?? majority
  if (oracles.length === 0) throw new ConfigurationError('ORACLES names no oracle.')
  if (threshold > oracles.length) {
    throw new ConfigurationError('ORACLES_THRESHOLD is higher than the number of ORACLES.')
  }
  if (!setting.isLocal && (threshold < 2 || threshold * 2 <= oracles.length)) {
    throw new ConfigurationError('ORACLES_THRESHOLD must be at least 2 and more than half of ORACLES.')
  }
  return { oracles, threshold }
}

function parseOracle({ text, entryName: place }: SettingEntry): OracleSetting {
  const [urlText = '', apiKey = '', signerText = '', ...more] = text.split('|').map((part) => part.trim())
  const url = URL.canParse(urlText) ? new URL(urlText) : undefined
  if (more.length > 0 || url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new ConfigurationError(`${place} is not url|apiKey|signer with an http(s) URL.`)
  }
  const signer = parseCasedAddress(signerText)
  if (signer === undefined) throw new ConfigurationError(`${place}: the signer is no address.`)
  return {
    url: new Secret(urlText.replace(/\/+$/, '')),
    name: url.host,
    apiKey: apiKey === '' ? undefined : new Secret(apiKey),
    signer,
  }
}

import { ConfigurationError } from '@causeway/core'
import type { Evaluation } from './evaluate.ts'

/**
 * A feed of another pair or with other decimals misprices everything, so nothing may start with it.
 * @throws ConfigurationError naming each such feed
 */
export function refuseMisdescribedFeeds({ prices }: Evaluation): void {
  const wrong = [...prices].flatMap(([key, { readings }]) =>
    readings
      .filter(({ result }) => 'fault' in result && result.fault === 'misdescribed')
      .map(({ source }) => `${key}: ${source}`),
  )
  if (wrong.length === 0) return
  throw new ConfigurationError(`Feeds with another description or other decimals:\n${wrong.join('\n')}`)
}

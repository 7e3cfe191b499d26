// Goal: nothing that callers of quote-api see changes unnoticed. Method: the service over real nodes answers the
// same requests as when the recording was made (`npm run tools -- record`), and every answer is compared with it.
import { recordAdmin } from './quoteApi/admin.ts'
import { recordDiscovery } from './quoteApi/discovery.ts'
import { recordLives } from './quoteApi/lives.ts'
import { recordMoney } from './quoteApi/money.ts'
import { recordPrices, recordQuotes } from './quoteApi/priced.ts'
import { recordMisdirected, recordRefused } from './quoteApi/refused.ts'
import { recordLinking, recordSponsored } from './quoteApi/sponsored.ts'
import { checkGroups } from './support/checkGroups.ts'
import { typeProblems } from './support/publicTypes.ts'
import { openQuoteStage, type QuoteStage } from './support/stage.ts'
import { readDescription, readMetrics, readSchema } from './support/surface.ts'

const quoteApi = (stage: QuoteStage) => stage.quoteApi
const admin = (stage: QuoteStage) => stage.admin

checkGroups(
  openQuoteStage,
  [
    ['quote-api/discovery', quoteApi, recordDiscovery],
    ['quote-api/price', quoteApi, recordPrices],
    ['quote-api/quote', quoteApi, recordQuotes],
    ['quote-api/refused', quoteApi, recordRefused],
    ['quote-api/misdirected', quoteApi, recordMisdirected],
    ['quote-api/linking', quoteApi, recordLinking],
    ['quote-api/sponsored', quoteApi, recordSponsored],
    ['quote-api/lives', quoteApi, recordLives],
    ['quote-api/money', quoteApi, recordMoney],
    ['quote-api/admin', admin, recordAdmin],
  ],
  quoteApi,
  [
    ['quote-api/description', ({ world }) => readDescription(world.quoteApi.publicUrl)],
    ['quote-api/metrics', ({ world }) => readMetrics(world.quoteApi.opsUrl)],
    ['quote-api/database', ({ world }) => readSchema(world.database)],
  ],
  typeProblems,
)

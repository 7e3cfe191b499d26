import { errorResponses, type HttpApp } from '@causeway/http'
import { type Status, statusSchema } from '../../operate/admin/status.ts'
import { adminOperation } from './adminOperation.ts'

/** `/admin/status`: whether everything moves. Answers while the database does not. */
export function registerStatusRoutes(app: HttpApp, readStatus: () => Promise<Status>): void {
  const schema = {
    ...adminOperation('status', 'Tell what moves and what does not, since when, and what to do'),
    response: { 200: statusSchema, ...errorResponses },
  }
  app.get('/admin/status', { schema }, readStatus)
}

import { errorResponses, type HttpApp } from '@causeway/http'
import { type Status, statusSchema } from '../../operate/admin/status.ts'
import { adminOperation } from './adminOperation.ts'

/** Registers `/admin/status`: which parts of the service stand still. It answers even if the database is down. */
export function registerStatusRoutes(app: HttpApp, readStatus: () => Promise<Status>): void {
  const schema = {
    ...adminOperation('status', 'Tell what moves and what does not, since when, and what to do'),
    response: { 200: statusSchema, ...errorResponses },
  }
  app.get('/admin/status', { schema }, readStatus)
}

/** The projects that one may see, with how far each is. */

import { useTracker } from '../app/app.js'
import { Icon } from '../parts/Icon.js'
import { Progress } from '../parts/Progress.js'
import { Link } from '../router/Link.js'
import { listIssues, listProjects } from '../store/queries.js'

export function ProjectsPage() {
  const state = useTracker()
  return (
    <>
      <header className="page-head">
        <h1>Projects</h1>
      </header>
      <ul className="projects">
        {listProjects(state).map((project) => (
          <li key={project.id}>
            <h2>
              <Link to={{ view: 'project', projectId: project.id }}>{project.name}</Link>
              <span className="row-id">{project.id}</span>
              {project.adminsOnly && (
                <span className="tag">
                  <Icon name="lock" /> Admins
                </span>
              )}
            </h2>
            <p>{project.summary}</p>
            <Progress issues={listIssues(state, { project: project.id })} />
          </li>
        ))}
      </ul>
    </>
  )
}

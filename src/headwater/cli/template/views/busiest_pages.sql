-- headwater: table
-- One row per page; the file's name is the table's.
SELECT page, COUNT(*) AS visits, SUM(seconds) AS seconds
FROM real_visits
GROUP BY page
